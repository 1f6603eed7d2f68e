package app

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestPauses_AreSharedByAllWorkers: what one was told with a Retry-After, the others
// respect; a longer pause is never made shorter by somebody who does not know it.
func TestPauses_AreSharedByAllWorkers(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := t.Context()
		told, other, third := newPauses(rdb), newPauses(rdb), newPauses(rdb)
		until, err := other.Paused(ctx, "gpt")
		require.NoError(t, err)
		require.True(t, until.IsZero())

		long := time.Now().Add(time.Minute).Truncate(time.Millisecond)
		require.NoError(t, told.Pause(ctx, "gpt", long))
		require.NoError(t, other.Pause(ctx, "gpt", long.Add(-50*time.Second)))
		for _, worker := range []*pauses{told, other, third} {
			until, err = worker.Paused(ctx, "gpt")
			require.NoError(t, err)
			require.True(t, until.Equal(long), "%v", until)
		}
		until, err = third.Paused(ctx, "other")
		require.NoError(t, err)
		require.True(t, until.IsZero(), "another provider is not paused")
		left, err := rdb.PTTL(ctx, "oj:pause:gpt").Result()
		require.NoError(t, err)
		require.Greater(t, left, 50*time.Second)
		require.LessOrEqual(t, left, time.Minute)
	})
}
