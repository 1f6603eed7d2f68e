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

	"github.com/redis/go-redis/v9"
)

// startRedis starts a redis-server that acknowledges nothing it has not synced.
func (b *bench) startRedis(ctx context.Context) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "redis")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making a folder for Redis: %w", err)
	}
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.CommandContext(ctx, "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0", "--maxmemory-policy", "noeviction")
	if err := b.start("redis-server", cmd); err != nil {
		return err
	}
	b.redis = "redis://" + addr + "/0"
	b.rdb = redis.NewClient(&redis.Options{Addr: addr})
	return until(ctx, func(ctx context.Context) error { return b.rdb.Ping(ctx).Err() })
}

// startTime bounds the start of a process.
const startTime = 30 * time.Second

// until asks again and again whether something is the case.
func until(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
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
