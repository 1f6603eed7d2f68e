// Package redistest gives tests their stores: an embedded miniredis and a real
// redis-server, so that one suite says the same of both.
package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Each runs a test on both stores, as parallel sub-tests.
func Each(t *testing.T, test func(t *testing.T, rdb *redis.Client)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		test(t, Mini(t))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, Real(t))
	})
}

// Mini returns a client of a miniredis of the test's own, with its times to
// live on the real clock.
func Mini(t testing.TB) *redis.Client {
	t.Helper()
	m := miniredis.RunT(t)
	m.ClockTTL(true)
	return client(t, &redis.Options{Addr: m.Addr()})
}

// databases is how many tests of one process can have a database of their own.
const databases = 4096

var shared struct {
	once sync.Once
	addr string
	err  error
	next atomic.Int64
}

// lives are the pipes whose closing ends the servers; held, or they would be
// collected and closed.
var lives struct {
	sync.Mutex
	pipes []io.WriteCloser
}

// Real returns a client of an empty database on a redis-server that the tests of
// this process share. Without redis-server on the machine the test is skipped,
// or fails where ONEJOB_REQUIRE_REDIS is set, as `make test` does.
func Real(t testing.TB) *redis.Client {
	t.Helper()
	Require(t)
	shared.once.Do(func() { shared.addr, shared.err = start(fmt.Sprint("--databases ", databases)) })
	require.NoError(t, shared.err, "starting redis-server")
	db := shared.next.Add(1)
	require.Less(t, db, int64(databases), "too many tests for one redis-server")
	return client(t, &redis.Options{Addr: shared.addr, DB: int(db)})
}

// Require skips the test where redis-server is not on the machine, or fails it where
// ONEJOB_REQUIRE_REDIS is set.
func Require(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return
	}
	const missing = "redis-server is not installed (Debian: apt-get install redis-server)"
	if os.Getenv("ONEJOB_REQUIRE_REDIS") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
}

func client(t testing.TB, options *redis.Options) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// start starts a redis-server that ends with this process: it is the child of a
// shell that waits for our end of a pipe to close.
func start(flags string) (string, error) {
	dir, err := os.MkdirTemp("", "onejob-redis-")
	if err != nil {
		return "", err
	}
	port, err := FreePort()
	if err != nil {
		return "", err
	}
	script := fmt.Sprintf("redis-server --port %d --bind 127.0.0.1 --dir '%s' --save '' --appendonly no %s "+
		">/dev/null & pid=$!; cat >/dev/null; kill -9 $pid; rm -rf '%s'", port, dir, flags, dir)
	cmd := exec.Command("sh", "-c", script)
	life, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	lives.Lock()
	defer lives.Unlock()
	lives.pipes = append(lives.pipes, life)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return addr, Ready(addr)
}

// Ports are handed out below those that the system gives to connections, from a
// place of each process's own: one that was free just now would else be taken by a
// neighbour's connection or server before its own server listens.
const (
	firstPort, portsOfAll = 10_000, 22_000
	portsOfOne            = 131
)

var nextPort atomic.Int64

// FreePort returns a TCP port of the loopback address that nobody listens on, and
// that no other test of this machine is given.
func FreePort() (int, error) {
	for range portsOfAll {
		port := firstPort + (os.Getpid()*portsOfOne+int(nextPort.Add(1)))%portsOfAll
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no port is free")
}

// Ready waits until a Redis answers at addr, ten seconds at most.
func Ready(addr string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ping(addr) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis at %s did not answer: %w", addr, ctx.Err())
		case <-tick.C:
		}
	}
}

func ping(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprint(conn, "PING\r\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && line != "+PONG\r\n" {
		return fmt.Errorf("answered %q", line)
	}
	return err
}
