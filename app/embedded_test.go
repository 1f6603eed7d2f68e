package app

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func openEmbedded(t *testing.T) *redis.Client {
	t.Helper()
	e, err := embed()
	require.NoError(t, err)
	t.Cleanup(e.Close)
	rdb := redis.NewClient(&redis.Options{Addr: e.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// TestEmbedded_TimesToLive: they run by themselves, and not faster than time.
func TestEmbedded_TimesToLive(t *testing.T) {
	t.Parallel()
	rdb, ctx := openEmbedded(t), t.Context()
	require.NoError(t, rdb.Set(ctx, "soon", 1, 200*time.Millisecond).Err())
	require.NoError(t, rdb.Set(ctx, "later", 1, time.Minute).Err())
	require.NoError(t, rdb.Set(ctx, "never", 1, 0).Err())
	began := time.Now()
	require.Eventually(t, func() bool { return rdb.Exists(ctx, "soon").Val() == 0 }, 10*time.Second, 5*time.Millisecond)
	require.Greater(t, time.Since(began), 100*time.Millisecond, "gone too early")
	left := rdb.PTTL(ctx, "later").Val()
	require.Greater(t, left, time.Minute-time.Since(began)-time.Second)
	require.Equal(t, int64(2), rdb.Exists(ctx, "later", "never").Val())
}

// TestEmbedded_CostsTheSame: what a command costs does not grow with what is stored,
// or a process that only polls would need a core for itself after some thousand jobs.
func TestEmbedded_CostsTheSame(t *testing.T) {
	t.Parallel()
	rdb, ctx := openEmbedded(t), t.Context()
	empty := quickest(ctx, t, rdb)
	for begin := 0; begin < 100_000; begin += 5_000 {
		pipe := rdb.Pipeline()
		for i := range 5_000 {
			pipe.Set(ctx, fmt.Sprint("key-", begin+i), i, time.Hour)
		}
		_, err := pipe.Exec(ctx)
		require.NoError(t, err)
	}
	full := quickest(ctx, t, rdb)
	require.Less(t, full, 20*empty+time.Millisecond, "100,000 keys, instead of none")
}

// quickest is the tenth of a hundred commands, by the time it took: what else the
// machine does, and the clock's own steps, are in the others.
func quickest(ctx context.Context, t *testing.T, rdb *redis.Client) time.Duration {
	t.Helper()
	took := make([]time.Duration, 100)
	for i := range took {
		began := time.Now()
		require.NoError(t, rdb.Ping(ctx).Err())
		require.Error(t, rdb.Get(ctx, "not there").Err())
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[10]
}
