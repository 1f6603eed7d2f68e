package batch_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/batch"
	"onejob/redistest"
)

// carried are scripts over a carrier that dials as told.
func carried(t *testing.T, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *batch.Client {
	t.Helper()
	options := &redis.UniversalOptions{Addrs: []string{"redis.example:6379"}, Dialer: dial}
	batch.Carrier(options)
	carrier := redis.NewUniversalClient(options)
	t.Cleanup(func() { require.NoError(t, carrier.Close()) })
	scripts, err := batch.New(carrier, nil)
	require.NoError(t, err)
	return scripts
}

// TestCarrier_LeavesWhatTheNameNoLongerMeans: behind a name that has moved to another
// server, the old one is left though its connection never breaks and is never idle.
func TestCarrier_LeavesWhatTheNameNoLongerMeans(t *testing.T) {
	t.Parallel()
	was, is := redistest.Mini(t), redistest.Mini(t)
	require.NoError(t, is.Set(t.Context(), "count", 1000, 0).Err())
	var addr atomic.Value
	addr.Store(was.Options().Addr)
	var dialer net.Dialer
	scripts := carried(t, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, addr.Load().(string))
	})
	require.NoError(t, echo.Run(t.Context(), scripts, []string{"count"}, "known").Err())
	addr.Store(is.Options().Addr)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		answer, err := echo.Run(context.Background(), scripts, []string{"count"}, "again").Slice()
		require.NoError(t, err)
		require.Greater(t, answer[1], int64(1000), "still at the old one")
	}, 30*time.Second, 100*time.Millisecond)
}

// TestCarrier_KeepsFewOfThoseWhoHaveGone: while no connection is to be had, callers
// wait no longer than they want, and little of what they wanted is kept.
func TestCarrier_KeepsFewOfThoseWhoHaveGone(t *testing.T) {
	t.Parallel()
	scripts := carried(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return nil, errors.New("nobody answers")
	})
	const callers, large = 2000, 64 << 10
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	began := time.Now()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := echo.EvalSha(ctx, scripts, []string{"count"}, strings.Repeat("x", large)).Err()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("answered %v", err)
			}
		})
	}
	all.Wait()
	require.Less(t, time.Since(began), 30*time.Second, "waits longer than he wants")
	require.Less(t, heap()-before, callers*large*2/3)
}

// TestClosed: nobody waits for a client that was closed.
func TestClosed(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{Addr: redistest.Mini(t).Options().Addr})
	scripts, err := batch.New(rdb, nil)
	require.NoError(t, err)
	require.NoError(t, echo.Run(t.Context(), scripts, []string{"count"}, "a").Err())
	require.NoError(t, rdb.Close())
	require.ErrorIs(t, echo.EvalSha(t.Context(), scripts, []string{"count"}, "b").Err(), redis.ErrClosed)
}
