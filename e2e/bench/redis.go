package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"onejob/e2e/process"

	"github.com/redis/go-redis/v9"
)

// store is a redis-server of the bench's.
type store struct {
	cmd *exec.Cmd
	url string
	rdb *redis.Client
}

// How a store keeps what it has acknowledged.
var (
	synced   = []string{"--appendonly", "yes", "--appendfsync", "always"} // it is on the disk
	inMemory = []string{"--appendonly", "no"}
)

// startStore starts a redis-server in a folder of its own.
func (b *bench) startStore(ctx context.Context, name string, keeps []string) (*store, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for Redis: %w", err)
	}
	_, port, _ := net.SplitHostPort(addr)
	args := append([]string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "",
		"--auto-aof-rewrite-percentage", "0", "--maxmemory-policy", "noeviction",
	}, keeps...)
	cmd := exec.CommandContext(ctx, "redis-server", args...)
	if err := b.processes.Start(name, cmd); err != nil {
		return nil, err
	}
	s := &store{cmd: cmd, url: "redis://" + addr + "/0", rdb: redis.NewClient(&redis.Options{Addr: addr})}
	return s, process.Until(ctx, startTime, func(ctx context.Context) error { return s.rdb.Ping(ctx).Err() })
}

func (s *store) stop() {
	_ = s.rdb.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// startTime bounds the start of a process.
const startTime = 30 * time.Second

// pause lets time pass, if there is any to pass.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Addr().(*net.TCPAddr).Port)), nil
}
