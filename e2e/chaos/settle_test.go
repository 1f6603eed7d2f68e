package chaos_test

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// settle waits until every acknowledged job has ended, as an operator settling what
// nothing else can, and gives the stories.
func (w *world) settle(ctx context.Context, h *history, n int) map[string]*story {
	w.t.Helper()
	stories := map[string]*story{}
	for _, c := range h.calls {
		s := stories[c.Key]
		if s == nil {
			s = &story{}
			stories[c.Key] = s
		}
		if c.Job.ID != "" && s.Job.ID == "" {
			s.Job.ID = c.Job.ID
		}
	}
	require.Len(w.t, stories, n)
	for key, s := range stories {
		require.NotEmpty(w.t, s.Job.ID, "%s was never acknowledged (seed %d)", key, w.seed)
		for {
			require.NoError(w.t, w.get("/v1/jobs/"+s.Job.ID, &s.Job))
			if s.Job.State.Ended() || ctx.Err() != nil {
				break
			}
			ledger, err := readLedger(w.ledger)
			require.NoError(w.t, err)
			effects := map[string]string{}
			for _, e := range ledger {
				if e.Result != "" {
					effects[e.Attempt] = e.Result
				}
			}
			w.operate(ctx, h, &s.Job, effects)
			<-time.After(200 * time.Millisecond)
			s.Job = jobs.Job{ID: s.Job.ID}
		}
	}
	return stories
}
