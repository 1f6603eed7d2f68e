package chaos_test

import (
	"context"
	"fmt"
	"sync"
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

// collect reads everything that is known of every key: the history's calls, the
// record, its trail, and the ledger.
func (w *world) collect(ctx context.Context, n int) map[string]*story {
	w.t.Helper()
	stories := w.history.stories()
	require.Len(w.t, stories, n, "keys that were asked for (seed %d)", w.seed)
	require.NoError(w.t, w.ledger.read())
	for _, e := range w.ledger.entries {
		require.Contains(w.t, stories, e.Key, "the ledger has a key nobody asked for: %+v", e)
		stories[e.Key].Ledger = append(stories[e.Key].Ledger, e)
	}
	next := make(chan *story)
	var readers sync.WaitGroup
	var failed sync.Map
	for range 24 {
		readers.Go(func() {
			for s := range next {
				if err := w.read(ctx, s); err != nil {
					failed.Store("error", err)
				}
			}
		})
	}
	for key, s := range stories {
		if s.Job.ID == "" {
			failed.Store("error", fmt.Errorf("%s was never acknowledged", key))
			continue
		}
		next <- s
	}
	close(next)
	readers.Wait()
	err, _ := failed.Load("error")
	require.Nil(w.t, err, "seed %d", w.seed)
	return stories
}

func (w *world) read(ctx context.Context, s *story) error {
	path := "/v1/jobs/" + s.Job.ID
	s.Job = jobs.Job{}
	if err := w.look(ctx, path, &s.Job); err != nil {
		return err
	}
	var trail struct {
		Data    []jobs.Event `json:"data"`
		HasMore bool         `json:"has_more"`
	}
	if err := w.look(ctx, path+"/events?limit=1000", &trail); err != nil {
		return err
	}
	if s.Trail = trail.Data; trail.HasMore {
		return fmt.Errorf("the trail of %s is longer than it can be", s.Job.ID)
	}
	return nil
}
