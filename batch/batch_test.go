package batch_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/batch"
	"onejob/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var echo = redis.NewScript(`return { ARGV[1], redis.call('INCR', KEYS[1]) }`)

// counting counts what goes out together.
type counting struct{ batches, scripts atomic.Int64 }

func (c *counting) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (c *counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (c *counting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		c.batches.Add(1)
		c.scripts.Add(int64(len(commands)))
		return next(ctx, commands)
	}
}

// TestScriptsGoTogether: of many at once each gets its own answer and runs once, and
// they take fewer writes than there are scripts. The first finds that the server
// does not know it, as after a restart.
func TestScriptsGoTogether(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		var count counting
		rdb.AddHook(&count)
		scripts, err := batch.New(rdb)
		require.NoError(t, err)
		require.NoError(t, rdb.ScriptFlush(t.Context()).Err())
		const many = 500
		answers := make([][]any, many)
		errs := make([]error, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				answers[i], errs[i] = echo.Run(t.Context(), scripts, []string{"count"}, fmt.Sprint(i)).Slice()
			})
		}
		all.Wait()
		seen := map[int64]bool{}
		for i := range many {
			require.NoError(t, errs[i])
			require.Equal(t, fmt.Sprint(i), answers[i][0])
			require.False(t, seen[answers[i][1].(int64)], "each runs once")
			seen[answers[i][1].(int64)] = true
		}
		require.Len(t, seen, many)
		ran, err := rdb.Get(t.Context(), "count").Int()
		require.NoError(t, err)
		require.Equal(t, many, ran, "each runs once, also where the answer is its own")
		require.Less(t, count.batches.Load(), int64(many/2))
	})
}

// TestConnectionsAreShownFirst: those that carry batches, too, go through OnConnect,
// which keeps verbs from a store that went back in time (design §3).
func TestConnectionsAreShownFirst(t *testing.T) {
	t.Parallel()
	options := *redistest.Mini(t).Options()
	refused := fmt.Errorf("not to be used")
	var refuse atomic.Bool
	refuse.Store(true)
	options.OnConnect = func(context.Context, *redis.Conn) error {
		if refuse.Load() {
			return refused
		}
		return nil
	}
	rdb := redis.NewClient(&options)
	defer func() { require.NoError(t, rdb.Close()) }()
	scripts, err := batch.New(rdb)
	require.NoError(t, err)
	require.ErrorIs(t, echo.Run(t.Context(), scripts, []string{"count"}, "a").Err(), refused)
	refuse.Store(false)
	answer, err := echo.Run(t.Context(), scripts, []string{"count"}, "b").Slice()
	require.NoError(t, err)
	require.Equal(t, int64(1), answer[1], "the refused one has not run")
}

// TestNobodyWaitsLongerThanHeWants: a Redis that takes commands and says nothing
// holds up a caller until his context ends, no longer.
func TestNobodyWaitsLongerThanHeWants(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	})
	rdb := redis.NewClient(&redis.Options{Addr: silent.Addr().String(), ReadTimeout: 2 * time.Second, MaxRetries: -1})
	defer func() {
		_ = silent.Close()
		open.Wait()
		require.NoError(t, rdb.Close())
	}()
	scripts, err := batch.New(rdb)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	require.ErrorIs(t, echo.Run(ctx, scripts, []string{"count"}, "a").Err(), context.DeadlineExceeded)
	require.Less(t, time.Since(began), time.Second)
}

// TestNewRefuses a client that cannot gather commands.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{}})
	defer func() { require.NoError(t, ring.Close()) }()
	_, err := batch.New(ring)
	require.ErrorContains(t, err, "gathering commands")
}
