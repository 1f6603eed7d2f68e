package recovery

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/providers"
	"onejob/redistest"
)

// stuck is a provider that does not answer look-ups until it is let.
type stuck struct {
	asked
	at  atomic.Int64
	let chan struct{}
}

func (s *stuck) Lookup(ctx context.Context, _ providers.Ref) providers.Outcome {
	s.at.Add(1)
	select {
	case <-s.let:
	case <-ctx.Done():
	}
	return providers.LookupFailed("it was stuck")
}

// A provider that does not answer holds up neither the sweep nor more than a few
// look-ups; those without a turn come up again.
func TestSweep_LimitsLookups(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		provider := &stuck{let: make(chan struct{})}
		w.options.Reconciler.Providers["inkjet"] = Provider{Provider: provider, Name: "inkjet"}
		const unknown = askAtOnce + 10
		for i := range unknown {
			c := w.claim(w.submit(fmt.Sprint("k", i), 0), time.Minute)
			_, err := w.store.Suspect(w.ctx, jobs.Suspicion{
				JobID: c.JobID, Attempt: 1, Token: c.Token, Reason: "timeout", Reminders: jobs.Reminders{Lookup: time.Millisecond},
			})
			require.NoError(t, err)
		}
		w.due("lookup")
		require.NoError(t, w.Sweep(w.ctx), "the sweep goes on")
		require.Eventually(t, func() bool { return provider.at.Load() == askAtOnce }, 10*time.Second, 10*time.Millisecond)
		w.due("lookup")
		require.NoError(t, w.Sweep(w.ctx))
		require.EqualValues(t, askAtOnce, provider.at.Load(), "no more at once")
		close(provider.let)
		w.options.Reconciler.Wait()
		w.due("lookup")
		w.sweep()
		require.Greater(t, provider.at.Load(), int64(askAtOnce), "then the others have their turn")
	})
}

// An entry of a kind this version does not know is of a newer one, which will
// deal with it.
func TestSweep_LeavesUnknownKindsAlone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		id := w.submit("k", 0)
		before := w.get(id)
		due, err := rdb.Keys(w.ctx, "oj:{*}:due").Result()
		require.NoError(t, err)
		require.NoError(t, rdb.ZAdd(w.ctx, due[0], redis.Z{Score: 1, Member: "novelty:" + id + ":1"}).Err())
		w.sweep()
		at, err := rdb.ZScore(w.ctx, due[0], "novelty:"+id+":1").Result()
		require.NoError(t, err, "taken off")
		require.Greater(t, at, 1.0, "its turn was taken")
		require.Equal(t, before, w.get(id))
	})
}
