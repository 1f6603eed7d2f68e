package webhooks

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// A receiver that hangs keeps its own places, and nobody else's; who finds no room
// comes again in the order of asking.
func TestHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHosts(2)
		first, _ := h.Enter("a")
		second, _ := h.Enter("a")
		require.NotNil(t, first)
		require.NotNil(t, second)
		var before time.Duration
		for range 10 {
			leave, wait := h.Enter("a")
			require.Nil(t, leave)
			require.GreaterOrEqual(t, wait, time.Second)
			require.Greater(t, wait, before, "one after the other")
			before = wait
		}
		other, _ := h.Enter("b")
		require.NotNil(t, other, "one host holds up no other")
		<-time.After(20 * time.Second) // by the clock of the bubble: the visit takes that long
		first()
		second()
		other()
		require.Empty(t, h.hosts, "nothing is kept of hosts nobody is at")

		first, _ = h.Enter("a")
		second, _ = h.Enter("a")
		<-time.After(time.Minute) // by the clock of the bubble
		second()
		second, _ = h.Enter("a")
		_, one := h.Enter("a")
		_, two := h.Enter("a")
		require.Greater(t, two-one, 5*time.Second, "a slow host is asked less often")
		for range 100 {
			_, wait := h.Enter("a")
			require.LessOrEqual(t, wait, waitMost)
		}
		first()
		second()
	})
}

func TestHosts_AtLeastOne(t *testing.T) {
	t.Parallel()
	leave, _ := NewHosts(0).Enter("a")
	require.NotNil(t, leave)
}

// A receiver that is overloaded is left alone by every worker, for its owner alone.
func TestSlowdowns(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := testContext(t)
		s := Slowdowns{Redis: rdb}
		left := func(owner, host string) time.Duration {
			d, err := s.Left(ctx, owner, host)
			require.NoError(t, err)
			return d
		}
		require.Zero(t, left("acme", "a:443"))
		require.NoError(t, s.Slow(ctx, "acme", "a:443", time.Minute))
		require.InDelta(t, time.Minute, left("acme", "a:443"), float64(5*time.Second))
		require.NoError(t, s.Slow(ctx, "acme", "b:443", 0))
		require.InDelta(t, 10*time.Second, left("acme", "b:443"), float64(5*time.Second))
		require.Zero(t, left("other", "a:443"), "whoever brought it upon himself holds up nobody else")
	})
}
