package limits_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/limits"
	"onejob/redistest"
)

// fixed gives every owner the same limits.
func fixed(s limits.Settings) func(string) limits.Settings {
	return func(string) limits.Settings { return s }
}

func none(context.Context, string) (int, error) { return 0, nil }

// TestRequest_ABurstAndThenTheRate, in all processes together, owner by owner.
func TestRequest_ABurstAndThenTheRate(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const rate, burst = 100, 40
		processes := make([]*limits.Limiter, 3)
		for i := range processes {
			processes[i] = limits.New(rdb, fixed(limits.Settings{Rate: rate, Burst: burst}), none)
		}
		var let, refused atomic.Int64
		began := time.Now()
		var all sync.WaitGroup
		for _, l := range processes {
			for range 4 {
				all.Go(func() {
					for time.Since(began) < 500*time.Millisecond {
						if wait, _, _ := l.Request(t.Context(), "acme"); wait > 0 {
							refused.Add(1)
							<-time.After(time.Millisecond)
						} else {
							let.Add(1)
						}
					}
				})
			}
		}
		all.Wait()
		took := time.Since(began).Seconds()
		require.LessOrEqual(t, float64(let.Load()), burst+rate*took+1, "more than all processes together may")
		require.GreaterOrEqual(t, float64(let.Load()), burst+rate*0.4, "less than there were")
		require.Positive(t, refused.Load())
		wait, _, _ := processes[0].Request(t.Context(), "other")
		require.Zero(t, wait, "another owner pays for it")
	})
}

// TestRequest_SaysWhenThereIsOneAgain, and then there is.
func TestRequest_SaysWhenThereIsOneAgain(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l := limits.New(rdb, fixed(limits.Settings{Rate: 5, Burst: 2}), none)
		for range 2 {
			wait, _, _ := l.Request(t.Context(), "acme")
			require.Zero(t, wait)
		}
		wait, rate, burst := l.Request(t.Context(), "acme")
		require.Greater(t, wait, 50*time.Millisecond)
		require.LessOrEqual(t, wait, 200*time.Millisecond)
		require.Equal(t, []int{5, 2}, []int{rate, burst})
		<-time.After(wait)
		wait, _, _ = l.Request(t.Context(), "acme")
		require.Zero(t, wait)
		keys, err := rdb.Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		require.Len(t, keys, 1)
		ttl, err := rdb.PTTL(t.Context(), keys[0]).Result()
		require.NoError(t, err)
		require.Positive(t, ttl, "what is not used any more goes by itself")
	})
}

// TestRequest_CostsFewRoundTrips, and none without a limit or while it refuses.
func TestRequest_CostsFewRoundTrips(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	var asked atomic.Int64
	rdb.AddHook(counter{&asked})
	free := limits.New(rdb, fixed(limits.Settings{}), none)
	for range 100 {
		wait, _, _ := free.Request(t.Context(), "acme")
		require.Zero(t, wait)
		_, _, ok := free.Job(t.Context(), "acme")
		require.True(t, ok)
	}
	require.Zero(t, asked.Load())
	limited := limits.New(rdb, fixed(limits.Settings{Rate: 1000, Burst: 1000}), none)
	for range 1000 {
		wait, _, _ := limited.Request(t.Context(), "acme")
		require.Zero(t, wait)
	}
	require.LessOrEqual(t, asked.Load(), int64(1000/50+1), "one for 50 of them, and one to load the script")
	slow := limits.New(rdb, fixed(limits.Settings{Rate: 1, Burst: 1}), none)
	asked.Store(0)
	for range 100 {
		slow.Request(t.Context(), "acme")
	}
	require.LessOrEqual(t, asked.Load(), int64(2), "who is refused is refused here")
}

// TestRequest_RedisAway: nobody is told he asked too much because it could not be
// counted, and only the first waits.
func TestRequest_RedisAway(t *testing.T) {
	t.Parallel()
	gone := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = gone.Close() })
	l := limits.New(gone, fixed(limits.Settings{Rate: 1, Burst: 1, OpenJobs: 1}),
		func(context.Context, string) (int, error) { return 0, errors.New("away") })
	began := time.Now()
	for range 100 {
		wait, _, _ := l.Request(t.Context(), "acme")
		require.Zero(t, wait)
		_, _, ok := l.Job(t.Context(), "acme")
		require.True(t, ok)
	}
	require.Less(t, time.Since(began), 5*time.Second)
}

// TestJob_PlacesAreTakenAndGivenBack: many at once get no more than there are.
func TestJob_PlacesAreTakenAndGivenBack(t *testing.T) {
	t.Parallel()
	var open, asked atomic.Int64
	open.Store(7)
	l := limits.New(nil, fixed(limits.Settings{OpenJobs: 10}), func(context.Context, string) (int, error) {
		asked.Add(1)
		return int(open.Load()), nil
	})
	var let atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, _, ok := l.Job(t.Context(), "acme"); ok {
				let.Add(1)
			}
		})
	}
	all.Wait()
	require.Equal(t, int64(3), let.Load())
	require.Equal(t, int64(1), asked.Load())
	n, most, ok := l.Job(t.Context(), "acme")
	require.Equal(t, []any{10, 10, false}, []any{n, most, ok})
	l.Unused("acme")
	_, _, ok = l.Job(t.Context(), "acme")
	require.True(t, ok)
	open.Store(2) // others have ended
	require.Eventually(t, func() bool { _, _, ok = l.Job(t.Context(), "acme"); return ok }, 5*time.Second, 10*time.Millisecond)
}

// counter counts what is sent.
type counter struct{ n *atomic.Int64 }

func (c counter) DialHook(next redis.DialHook) redis.DialHook { return next }
func (c counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if name := cmd.Name(); name == "evalsha" || name == "eval" {
			c.n.Add(1)
		}
		return next(ctx, cmd)
	}
}

func (c counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
