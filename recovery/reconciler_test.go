package recovery

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/jobs/recordtest"
	"onejob/providers"
	"onejob/redistest"
)

// unknown is a job whose only attempt is unknown and due to be looked up.
func (w *watch) unknown(r jobs.Reminders) string {
	w.t.Helper()
	id := w.submit("k", 0)
	w.claim(id, time.Minute)
	suspected, err := w.store.Suspect(w.ctx, jobs.Suspicion{JobID: id, Attempt: 1, Token: "t", Reason: "timeout", Reminders: r})
	require.NoError(w.t, err)
	require.True(w.t, suspected)
	return id
}

// TestLookup: what the provider says of an unknown attempt settles it; that it
// says nothing, or cannot be asked, settles nothing (design §5).
func TestLookup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   providers.Outcome
		absent   bool // absence is declared to prove something
		passed   bool // the deadline has
		state    jobs.State
		attempts int
	}{
		"found":                      {providers.Success(json.RawMessage(`"found"`), nil), false, false, jobs.Succeeded, 1},
		"refused, for good":          {providers.FailedThere(providers.Refusal{}, false), false, false, jobs.Failed, 1},
		"failed, may be tried again": {providers.FailedThere(providers.Refusal{}, true), false, false, jobs.Queued, 2},
		"still running":              {providers.Outcome{Kind: providers.Accepted}, false, false, jobs.Unknown, 1},
		"absent proves nothing":      {providers.Absent(), false, false, jobs.Unknown, 1},
		"absent before the deadline": {providers.Absent(), true, false, jobs.Unknown, 1},
		"absent after the deadline":  {providers.Absent(), false, true, jobs.Unknown, 1},
		"absent, declared to prove":  {providers.Absent(), true, true, jobs.Queued, 2},
		"it cannot be asked":         {providers.LookupFailed("connection refused"), false, false, jobs.Unknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				w := setup(t, rdb)
				w.asked.answer = c.answer
				p := w.options.Reconciler.Providers["inkjet"]
				p.AbsentProves = c.absent
				w.options.Reconciler.Providers["inkjet"] = p
				id := w.unknown(jobs.Reminders{Lookup: time.Millisecond})
				if c.passed {
					for _, key := range rdb.Keys(w.ctx, "oj:*job:"+id).Val() {
						require.NoError(t, recordtest.Set(w.ctx, rdb, key, map[string]any{"1.deadline": 1}))
					}
				}
				w.due("lookup")
				w.sweep()
				job := w.get(id)
				require.Equal(t, c.state, job.State)
				require.Len(t, job.Attempts, c.attempts)
				require.Len(t, w.asked.lookups, 1)
				require.Equal(t, jobs.AttemptID(id, 1), w.asked.lookups[0].AttemptID)
				if c.state == jobs.Unknown {
					require.Contains(t, w.left(), "lookup", "it is not asked again")
					require.NotNil(t, job.Attempts[0].Lookup)
				}
			})
		})
	}
}

// A look-up that comes when somebody has decided meanwhile changes nothing.
func TestLookup_AfterADecision(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		w.asked.answer = providers.Success(json.RawMessage(`"found"`), nil)
		id := w.unknown(jobs.Reminders{Lookup: time.Millisecond})
		job, attempt, err := w.options.Reconciler.read(w.ctx, jobs.Due{JobID: id, Last: "1"})
		require.NoError(t, err)
		_, err = w.store.CancelJob(w.ctx, jobs.Decision{JobID: id})
		require.NoError(t, err)
		// It was read as unknown, and is looked up only now.
		reported, err := w.options.Reconciler.apply(w.ctx, job, attempt, w.asked.answer, "reconciler")
		require.NoError(t, err)
		require.Equal(t, "attempt_cancelled", reported.Late)
		after := w.get(id)
		require.Equal(t, jobs.Cancelled, after.State)
		require.Empty(t, after.Result)
		require.Equal(t, "attempt_cancelled", after.Attempts[0].LateResult.Reason)
	})
}

// settles_after is the operator's word that no answer can come any more.
func TestSettle(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		id := w.unknown(jobs.Reminders{Settle: time.Hour})
		w.sweep()
		require.Equal(t, jobs.Unknown, w.get(id).State, "settled before its time")
		w.due("settle")
		w.sweep()
		job := w.get(id)
		require.Equal(t, jobs.AttemptFailed, job.Attempts[0].State)
		require.Equal(t, providers.ReasonSettled, job.Attempts[0].Reason)
		require.Equal(t, "unknown", job.Attempts[0].Effect, "it may have cost something all the same")
		require.Len(t, job.Attempts, 2, "the plan goes on")
	})
}

// The provider of a cancelled call is asked to stop it, once, and the trail says so.
func TestCancel_AsksTheProvider(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		id := w.unknown(jobs.Reminders{})
		_, err := w.store.CancelJob(w.ctx, jobs.Decision{JobID: id})
		require.NoError(t, err)
		w.sweep()
		w.sweep()
		require.Len(t, w.asked.cancels, 1)
		require.NotContains(t, w.left(), "cancel")
		trail, err := w.store.Events(w.ctx, id, "", 100)
		require.NoError(t, err)
		require.Equal(t, "cancel_asked", trail[len(trail)-1].Verb)
	})
}
