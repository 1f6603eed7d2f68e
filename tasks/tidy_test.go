package tasks_test

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestTidy: servers that are long dead go off asynq's lists, as asynq itself names
// and keeps them; one that lives, or may just be late, stays.
func TestTidy(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		d := openDesk(t, rdb, "k")
		server := asynq.NewServerFromRedisClient(rdb, asynq.Config{
			Concurrency: 1, Queues: map[string]int{"press": 1}, LogLevel: asynq.FatalLevel,
		})
		require.NoError(t, server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })))
		defer server.Shutdown()
		lists := []string{"asynq:servers", "asynq:workers"}
		var alive []string
		for _, list := range lists {
			require.Eventually(t, func() bool {
				alive = rdb.ZRange(d.ctx, list, 0, -1).Val()
				return len(alive) == 1
			}, patience, 5*time.Millisecond, "asynq lists its servers in %s", list)
			now := time.Now()
			require.NoError(t, rdb.ZAdd(d.ctx, list,
				redis.Z{Member: "late", Score: float64(now.Add(-30 * time.Second).Unix())},
				redis.Z{Member: "dead", Score: float64(now.Add(-2 * time.Minute).Unix())},
				redis.Z{Member: "long dead", Score: float64(now.Add(-24 * time.Hour).Unix())},
			).Err())
		}
		require.NoError(t, d.queue.Tidy(d.ctx))
		for _, list := range lists {
			left := rdb.ZRange(d.ctx, list, 0, -1).Val()
			require.Len(t, left, 2, list)
			require.Contains(t, left, "late")
			require.NotContains(t, left, "dead")
		}
	})
}

// TestTidy_AStoreThatIsAway is told as such.
func TestTidy_AStoreThatIsAway(t *testing.T) {
	t.Parallel()
	gone := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = gone.Close() })
	require.ErrorContains(t, openDesk(t, gone, "k").queue.Tidy(t.Context()), "dead servers")
}
