package chaos_test

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// settle waits until no list shows a job that has not ended.
func (w *world) settle(ctx context.Context) {
	w.t.Helper()
	for empty := 0; empty < 2; { // between two looks a job can move from one list to another
		open, err := w.open(ctx)
		require.NoError(w.t, err)
		if empty++; open > 0 {
			empty = 0
		}
		require.True(w.t, rest(ctx, 500*time.Millisecond), "%d jobs have not ended (seed %d)", open, w.seed)
	}
}

// open counts the jobs that the lists show as not ended; a hundred or more of a state
// count as a hundred.
func (w *world) open(ctx context.Context) (int, error) {
	open := 0
	for _, state := range []jobs.State{jobs.Queued, jobs.Running, jobs.Unknown} {
		var page struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := w.look(ctx, "/v1/jobs?limit=100&state="+string(state), &page); err != nil {
			return 0, err
		}
		open += len(page.Data)
	}
	return open, nil
}
