package handlers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/handlers"
	"onejob/jobs"
	"onejob/providers"
)

func got[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case what := <-from:
		return what
	case <-time.After(patience):
		require.FailNow(t, "nothing was observed")
		var none T
		return none
	}
}

// What happens to a call is told once each: its claim, that it fell silent, its end.
func TestObserver_ACallThatFallsSilent(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{timeout: 50 * time.Millisecond})
	id := b.submit("k")
	v := b.provider.next(t)
	claimed := got(t, b.claims)
	require.Equal(t, "claimed", claimed.Answer)
	require.Equal(t, "inkjet", claimed.Provider)
	require.Less(t, claimed.Waited, patience)
	require.Equal(t, handlers.Suspected{Provider: "inkjet", Reason: providers.ReasonTimeout}, got(t, b.suspicions))
	v.succeed(`"late, and still in time"`)
	ended := b.end()
	require.Equal(t, providers.Succeeded, ended.Outcome)
	require.True(t, ended.Recorded)
	require.Empty(t, ended.Late)
	require.GreaterOrEqual(t, ended.Took, 50*time.Millisecond)

	b.deliver(id, 1, "again")
	require.Equal(t, handlers.Claimed{Provider: "inkjet", Answer: "not_starting"}, got(t, b.claims))
	require.Empty(t, b.suspicions)
	require.Empty(t, b.ended)
}

// An attempt that waits for its worker has waited when it is claimed; the wait that
// its route's back-off wanted is none.
func TestObserver_HowLongItWaited(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	now := time.Now()
	b.redis.SetTime(now)
	s, err := b.store.Submit(b.ctx, jobs.Submission{
		Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: []byte(`{}`),
	})
	require.NoError(t, err)
	b.redis.SetTime(now.Add(42 * time.Second))
	for _, w := range s.Wakes {
		b.waker.Wake(b.ctx, w)
	}
	b.provider.next(t).succeed(`1`)
	require.Equal(t, 42*time.Second, got(t, b.claims).Waited)
	b.end()
}

// A lease that a person took away is told of at the next beat.
func TestObserver_ALeaseThatIsLost(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{beat: 20 * time.Millisecond})
	id := b.submit("k")
	v := b.provider.next(t)
	_, err := b.store.CancelJob(b.ctx, jobs.Decision{JobID: id, Actor: "dev"})
	require.NoError(t, err)
	require.Equal(t, "inkjet", got(t, b.lost))
	v.succeed(`1`)
	require.Equal(t, "attempt_cancelled", b.end().Late)
	require.Empty(t, b.lost)
}

func TestObserver_AStoreThatIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{deadline: 300 * time.Millisecond, timeout: 200 * time.Millisecond})
	b.submit("k")
	v := b.provider.next(t)
	require.Equal(t, "claimed", got(t, b.claims).Answer)
	b.redis.SetError("LOADING")
	v.answer <- providers.Refused("no")
	require.False(t, b.end().Recorded)
	b.redis.SetError("")
}
