package auth

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is a store of keys with a clock of its own and a count of commands.
type bundle struct {
	*Keys
	client redis.UniversalClient
	trips  *atomic.Int64
	clock  *atomic.Int64 // nanoseconds since the start
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (b *bundle) advance(d time.Duration) { b.clock.Add(int64(d)) }

// other is the same store in another process.
func (b *bundle) other(opts ...Option) *Keys {
	k := New(b.client, opts...)
	k.now = b.now
	return k
}

func setup(t *testing.T, client redis.UniversalClient, opts ...Option) *bundle {
	t.Helper()
	b := &bundle{client: client, trips: &atomic.Int64{}, clock: &atomic.Int64{}}
	require.NoError(t, client.Ping(t.Context()).Err()) // the handshake is not counted
	client.AddHook(counter{b.trips})
	b.Keys = New(client, opts...)
	b.now = func() time.Time { return start.Add(time.Duration(b.clock.Load())) }
	return b
}

// onEachRedis runs a test on miniredis and on the real server.
func onEachRedis(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		test(t, setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr())))
	})
	t.Run("redis-server", func(t *testing.T) {
		t.Parallel()
		test(t, setup(t, newClient(t, "unix", startRedis(t))))
	})
}

func newClient(t *testing.T, network, addr string) redis.UniversalClient {
	t.Helper()
	client := redis.NewClient(&redis.Options{Network: network, Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// startRedis starts a server on a socket in a directory of its own.
func startRedis(t *testing.T) (socket string) {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	dir, err := os.MkdirTemp("", "oj") // t.TempDir is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s")
	cmd := exec.Command(binary, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "no")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	client := newClient(t, "unix", socket)
	require.Eventually(t, func() bool { return client.Ping(context.Background()).Err() == nil },
		20*time.Second, 20*time.Millisecond)
	return socket
}

// counter counts commands sent to Redis.
type counter struct{ n *atomic.Int64 }

func (c counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmds)
	}
}

// failAfter answers with an error once limit commands were sent. Hooks run in
// the order they were added, so the counter has counted this one already.
type failAfter struct {
	n     *atomic.Int64
	limit int64
}

func (f failAfter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f failAfter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if f.n.Load() > f.limit {
			cmd.SetErr(io.ErrUnexpectedEOF)
			return cmd.Err()
		}
		return next(ctx, cmd)
	}
}

func (f failAfter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
