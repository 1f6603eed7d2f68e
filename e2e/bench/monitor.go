package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// told returns what MONITOR tells while something is done.
func (s *store) told(ctx context.Context, do func() error) ([]string, error) {
	conn, err := net.Dial("tcp", s.rdb.Options().Addr)
	if err != nil {
		return nil, fmt.Errorf("connecting to Redis: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
		return nil, fmt.Errorf("asking Redis to tell: %w", err)
	}
	read := bufio.NewReader(conn)
	if _, err := read.ReadString('\n'); err != nil { // +OK
		return nil, fmt.Errorf("asking Redis to tell: %w", err)
	}
	if err := do(); err != nil {
		return nil, err
	}
	const end = "the end of what is to be told"
	if err := s.rdb.Echo(ctx, end).Err(); err != nil {
		return nil, fmt.Errorf("asking Redis to tell: %w", err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, fmt.Errorf("bounding what Redis tells: %w", err)
	}
	var lines []string
	for {
		line, err := read.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("hearing what Redis tells: %w", err)
		}
		if strings.Contains(line, end) {
			return lines, nil
		}
		lines = append(lines, line)
	}
}
