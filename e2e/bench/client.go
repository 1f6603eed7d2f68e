package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http/httputil"
	"slices"
	"strconv"
	"time"
)

// client is one connection that speaks as little HTTP/1.1 as it takes, so that
// what is measured is the server: the machine's two cores serve both.
type client struct {
	conn net.Conn
	read *bufio.Reader
	body []byte
}

func dial(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", addr, err)
	}
	return &client{conn: conn, read: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// answerTime bounds one answer.
const answerTime = 30 * time.Second

// do sends a whole request and reads the answer; the body is valid until the next.
func (c *client) do(request []byte) (status int, body []byte, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return 0, nil, fmt.Errorf("bounding a call: %w", err)
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, fmt.Errorf("sending a request: %w", err)
	}
	line, err := c.read.ReadSlice('\n')
	if err != nil {
		return 0, nil, fmt.Errorf("reading a status line: %w", err)
	}
	if status, err = statusOf(line); err != nil {
		return 0, nil, err
	}
	length, err := c.header()
	if err != nil {
		return 0, nil, err
	}
	if length == chunked {
		c.body, err = io.ReadAll(httputil.NewChunkedReader(c.read))
		if err == nil {
			_, err = c.read.ReadSlice('\n') // the end of the trailer, which is empty
		}
	} else {
		c.body = slices.Grow(c.body[:0], length)[:length]
		_, err = io.ReadFull(c.read, c.body)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("reading a body: %w", err)
	}
	return status, c.body, nil
}

func statusOf(line []byte) (int, error) {
	const at = len("HTTP/1.1 ")
	if len(line) < at+3 {
		return 0, fmt.Errorf("not a status line: %q", line)
	}
	status, err := strconv.Atoi(string(line[at : at+3]))
	if err != nil {
		return 0, fmt.Errorf("not a status line: %q", line)
	}
	return status, nil
}

// chunked stands for the length of a body that tells it piece by piece.
const chunked = -1

// header reads up to the empty line and returns the length of the body.
func (c *client) header() (int, error) {
	length := math.MinInt
	for {
		line, err := c.read.ReadSlice('\n')
		if err != nil {
			return 0, fmt.Errorf("reading a header: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, fmt.Errorf("reading a length: %w", err)
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			length = chunked
		}
	}
	if length < chunked {
		return 0, errors.New("an answer that does not tell its length")
	}
	return length, nil
}
