package webhooks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
	"onejob/webhooks"
)

func TestCallbacks(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := t.Context()
		callbacks := &webhooks.Callbacks{Redis: rdb, PublicURL: "https://jobs.example/", Keep: time.Hour}

		url, err := callbacks.URL(ctx, "job_1", 2)
		require.NoError(t, err)
		token, ok := strings.CutPrefix(url, "https://jobs.example/v1/callbacks/")
		require.True(t, ok, url)
		require.GreaterOrEqual(t, len(token), 26)

		job, attempt, err := callbacks.Find(ctx, token)
		require.NoError(t, err)
		require.Equal(t, "job_1", job)
		require.Equal(t, 2, attempt)

		_, _, err = callbacks.Find(ctx, token+"x")
		require.ErrorIs(t, err, webhooks.ErrNoCallback)

		keys, err := rdb.Keys(ctx, "*").Result()
		require.NoError(t, err)
		require.Len(t, keys, 1)
		require.NotContains(t, keys[0], token, "a copy of the store must open nothing")
		left, err := rdb.PTTL(ctx, keys[0]).Result()
		require.NoError(t, err)
		require.Greater(t, left, time.Minute)

		again, err := callbacks.URL(ctx, "job_1", 2)
		require.NoError(t, err)
		require.NotEqual(t, url, again)
	})
}
