package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/jobs"
)

// TestContract_SameKeyOtherInput: another body under a key is a conflict in every
// state of its job, and nothing is written (I8). The same body gets its job, or
// 410 once the record has expired; it is never run again.
func TestContract_SameKeyOtherInput(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		f := newFloor(t, rdb, 10*time.Second)
		// No worker: the test does what one does, and nothing else moves.
		dev := f.caller(f.start(app.WithAPI()).Addr())
		store := f.store()
		for _, state := range []string{"queued", "running", "unknown", "succeeded", "failed", "cancelled", "expired"} {
			id := dev.submit(state, page1).job.ID
			bring(f, store, id, state)
			before := keyspace(f.ctx, t, rdb)

			other := dev.submit(state, page2)
			require.Equal(t, http.StatusConflict, other.status, "%s: %s", state, other.body)
			require.Equal(t, "idempotency-key-reused", other.name())
			require.Equal(t, "false", other.header.Get("X-Should-Retry"))
			require.Equal(t, id, other.Job)
			require.NotEmpty(t, other.Hint)
			require.Equal(t, before, keyspace(f.ctx, t, rdb), "%s: something was written", state)

			same := dev.submit(state, page1)
			if state == "expired" {
				require.Equal(t, http.StatusGone, same.status, same.body)
				require.Equal(t, "idempotency-key-expired", same.name())
				require.Equal(t, id, same.Job)
			} else {
				require.Equal(t, id, same.job.ID)
				require.Equal(t, state, string(same.job.State))
				require.Equal(t, "true", same.header.Get("Idempotent-Replayed"))
			}
			require.Equal(t, before, keyspace(f.ctx, t, rdb), "%s: something was written", state)
		}
		f.shop.none()
	})
}

// bring brings a queued job into a state.
func bring(f *floor, store *jobs.Store, id, state string) {
	t, ctx := f.t, f.ctx
	t.Helper()
	if state == "queued" {
		return
	}
	if state == "cancelled" {
		_, err := store.CancelJob(ctx, jobs.Decision{JobID: id})
		require.NoError(t, err)
		return
	}
	claim, err := store.Claim(ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: "t", Provider: "inkjet", Deadline: time.Hour})
	require.NoError(t, err)
	ending := jobs.Ending{JobID: id, Attempt: 1, Fence: claim.Fence}
	switch state {
	case "unknown":
		_, err = store.Suspect(ctx, jobs.Suspicion{JobID: id, Attempt: 1, Token: "t", Reason: "timeout"})
	case "succeeded", "expired":
		_, err = store.Finalize(ctx, ending, json.RawMessage(`{}`), nil)
	case "failed":
		_, err = store.Fail(ctx, ending, jobs.Failure{Reason: "rejected", Policy: &jobs.Policy{}})
	}
	require.NoError(t, err)
	if state == "expired" {
		found := keys(ctx, t, f.rdb, "oj:*job:"+id)
		require.Len(t, found, 1)
		require.NoError(t, f.rdb.Del(ctx, found[0]).Err())
	}
}
