package recovery

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/providers"
	"onejob/redistest"
)

// dedupes is a provider that answers a repeated create; before its first byte
// leaves, connecting happens.
type dedupes struct {
	connecting func()
	left       int
}

func (d *dedupes) Execute(_ context.Context, call *providers.Call) providers.Outcome {
	d.connecting()
	if err := call.Wire.Leaving(); err != nil {
		return providers.Unsent(call.Wire, err.Error())
	}
	d.left++
	return providers.Success(json.RawMessage(`"again"`), nil)
}

// TestRepeat_AsksAgainBeforeItLeaves: an attempt that was settled while the
// connection of its repetition was made is not created any more (I2).
func TestRepeat_AsksAgainBeforeItLeaves(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]bool{"still unknown": false, "resolved meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				w := setup(t, rdb)
				id := w.unknown(jobs.Reminders{Lookup: time.Millisecond})
				provider := &dedupes{connecting: func() {
					if settle {
						_, err := w.store.Resolve(w.ctx, jobs.Resolution{
							Decision: jobs.Decision{JobID: id, Attempt: 1, Actor: "operator", Reason: "it did not"}, Outcome: "failed",
						})
						require.NoError(t, err)
					}
				}}
				w.options.Reconciler.Providers["inkjet"] = Provider{
					Provider: provider, Name: "inkjet", Deadline: time.Hour, Window: 24 * time.Hour,
				}
				w.due("lookup")
				w.sweep()
				if settle {
					require.Zero(t, provider.left)
					require.Equal(t, jobs.Failed, w.get(id).State)
					return
				}
				require.Equal(t, 1, provider.left)
				require.Equal(t, jobs.Succeeded, w.get(id).State)
			})
		})
	}
}

// TestAbsenceProves: only after the time in which the call could leave, and never
// against what the provider has said itself.
func TestAbsenceProves(t *testing.T) {
	t.Parallel()
	now := time.Now()
	past, future := jobs.Time(now.Add(-time.Second).UnixMilli()), jobs.Time(now.Add(time.Minute).UnixMilli())
	p := Provider{AbsentProves: true, Deadline: time.Minute}
	for name, c := range map[string]struct {
		attempt jobs.Attempt
		proves  bool
	}{
		"after the deadline":    {jobs.Attempt{Deadline: past}, true},
		"before the deadline":   {jobs.Attempt{Deadline: future}, false},
		"it gave a handle":      {jobs.Attempt{Deadline: past, Handle: "h"}, false},
		"it was seen at work":   {jobs.Attempt{Deadline: past, Lookup: &jobs.Lookup{Said: "running"}}, false},
		"rewound a moment ago":  {jobs.Attempt{UnknownAt: past}, false},
		"rewound some time ago": {jobs.Attempt{UnknownAt: jobs.Time(now.Add(-time.Hour).UnixMilli())}, true},
	} {
		require.Equal(t, c.proves, p.absenceProves(&c.attempt, now), name)
	}
	undeclared := Provider{Deadline: time.Minute}
	require.False(t, undeclared.absenceProves(&jobs.Attempt{Deadline: past}, now))
}

// TestLookup_OfAProviderNotKnownHere leaves the entry to a worker that knows it.
func TestLookup_OfAProviderNotKnownHere(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		w.unknown(jobs.Reminders{Lookup: time.Millisecond})
		delete(w.options.Reconciler.Providers, "inkjet")
		w.due("lookup")
		before := len(w.left())
		w.sweep()
		require.Len(t, w.left(), before)
	})
}

// TestLookup_IsHeldToTheRules: what a look-up finds passes the route's output rules
// like an answer, or is a failure.
func TestLookup_IsHeldToTheRules(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		id := w.unknown(jobs.Reminders{Lookup: time.Millisecond})
		w.asked.answer = providers.Success(json.RawMessage(`"prose"`), nil)
		w.options.Reconciler.Judge = func(route string, _ providers.Outcome) providers.Outcome {
			require.Equal(t, "print", route)
			return providers.Outcome{Kind: providers.Failed, Reason: "output_prose", Effect: providers.EffectDone, Message: "prose"}
		}
		w.due("lookup")
		w.sweep()
		job := w.get(id)
		require.Equal(t, jobs.Failed, job.State)
		require.Equal(t, "output_prose", job.Error.Code)
		require.Equal(t, "done", job.Attempts[0].Effect)
	})
}
