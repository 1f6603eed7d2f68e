package jobs_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestWatchAll: whoever watches every job hears of each one, and after stop of
// none.
func TestWatchAll(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		changed, stop, err := b.WatchAll()
		require.NoError(t, err)
		other, stopOther, err := b.WatchAll()
		require.NoError(t, err)
		b.subscribed(1)

		b.submit("one")
		b.heard(changed)
		b.heard(other)
		stopOther()
		b.submit("two")
		b.heard(changed)
		require.Empty(t, other)

		stop()
		b.subscribed(0)
		again, stop, err := b.WatchAll()
		require.NoError(t, err)
		b.subscribed(1)
		b.submit("three")
		b.heard(again)
		stop()
	})
}

func (b *bundle) heard(changed <-chan struct{}) {
	b.t.Helper()
	select {
	case <-changed:
	case <-b.ctx.Done():
		require.Fail(b.t, "nothing was heard")
	}
}

// subscribed waits until so many patterns are subscribed to.
func (b *bundle) subscribed(n int64) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		patterns, err := b.rdb.PubSubNumPat(b.ctx).Result()
		return err == nil && patterns == n
	}, 20*time.Second, time.Millisecond)
}
