package witness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// settleTime is how long everything may take to come to rest: leases of 3 s, silence
// until deadlines of 4 s, look-ups in between.
const settleTime = 45 * time.Second

// owner is whom the callers' key belongs to.
const owner = "dev"

// Settled waits until no job is open any more.
func Settled(ctx context.Context, t testing.TB, store *jobs.Store) {
	t.Helper()
	open := -1
	defer func() {
		if open == 0 {
			return
		}
		for _, state := range []jobs.State{jobs.Queued, jobs.Running, jobs.Unknown} {
			page, err := store.List(ctx, jobs.Query{State: state, Limit: 3})
			if err != nil {
				continue
			}
			for _, job := range page.Jobs {
				t.Logf("still %s: %s, attempts %+v", job.State, job.ID, job.Attempts)
			}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for open != 0 {
		n, err := store.OpenJobs(ctx, owner)
		if err == nil {
			open = n
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.FailNow(t, "not settled", "%d jobs are still open after %v (%v)", open, settleTime, err)
		}
	}
}
