package chaos_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"onejob/jobs"
)

// load is how far the callers have come.
type load struct {
	jobs      int
	submitted atomic.Int64
	crowded   atomic.Bool // so many jobs are queued that more would only wait
}

// submitAll has callers submit all jobs and keeps them from running ahead of the
// faults, and of the workers.
func (w *world) submitAll(ctx context.Context, l *load, plan []*kind) {
	next := atomic.Int64{}
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for n := next.Add(1) - 1; n < int64(l.jobs) && ctx.Err() == nil; n = next.Add(1) - 1 {
				for (behind(plan, l) || l.crowded.Load()) && rest(ctx, 20*time.Millisecond) {
					continue
				}
				w.caller(int(n)).run(ctx)
				l.submitted.Add(1)
			}
		})
	}
	all.Wait()
}

// watch looks how many jobs are queued until ctx ends.
func (l *load) watch(ctx context.Context, w *world) {
	for rest(ctx, 250*time.Millisecond) {
		var page struct {
			HasMore bool `json:"has_more"`
		}
		if err := w.look(ctx, "/v1/jobs?limit=100&state="+string(jobs.Queued), &page); err == nil {
			l.crowded.Store(page.HasMore)
		}
	}
}
