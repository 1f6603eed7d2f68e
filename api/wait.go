package api

import (
	"context"
	"fmt"
	"time"

	"github.com/labstack/echo/v4"

	"onejob/jobs"
)

// holdIfPreferred waits as long as the caller prefers for the job to end and
// returns it as it is then. Without such a preference it returns job at once.
func (s *Server) holdIfPreferred(c echo.Context, job *jobs.Job) (*jobs.Job, error) {
	wait, ok := preferredWait(c.Request().Header)
	if !ok {
		return job, nil
	}
	c.Response().Header().Set("Preference-Applied", fmt.Sprintf("wait=%d", wait/time.Second))
	ctx, cancel := context.WithTimeout(c.Request().Context(), wait)
	defer cancel()
	return s.Hold(ctx, job, ended)
}

func ended(job *jobs.Job) bool { return job.State.Ended() }

// Hold returns the job once enough is true of it, or as it is when ctx or the
// server ends. enough is asked of every look at the job: after each change, and
// every 2 s at least. A store that is away meanwhile is asked again; the error is
// that of the last look.
func (s *Server) Hold(ctx context.Context, job *jobs.Job, enough func(*jobs.Job) bool) (*jobs.Job, error) {
	if enough(job) {
		return job, nil
	}
	changes, stop := s.watch(job.ID)
	defer stop()
	for {
		// After the watch began, so that no change falls in between.
		seen, err := s.look(ctx, job.ID)
		if err == nil {
			job = seen
		}
		if enough(job) || !s.nextLook(ctx, changes) {
			return job, err
		}
	}
}

// Stopping is closed when waits are to end because the server does.
func (s *Server) Stopping() <-chan struct{} { return s.stopping }

// look reads the job now; the end of ctx alone does not interrupt it.
func (s *Server) look(ctx context.Context, id string) (*jobs.Job, error) {
	ctx, cancel := decided(ctx)
	defer cancel()
	return s.store.Get(ctx, id)
}

// watch signals when it is worth looking at the job again. Where no signals are
// to be had, nextLook polls.
func (s *Server) watch(id string) (<-chan struct{}, func()) {
	changes, stop, err := s.store.Watch(id)
	if err != nil {
		s.config.Log.Warn("no signals of changes, polling", "job", id, "error", err)
		return nil, func() {}
	}
	return changes, stop
}

// nextLook waits for a change, or for pollEvery. It is false when there will be
// no further look.
func (s *Server) nextLook(ctx context.Context, changes <-chan struct{}) bool {
	poll := time.NewTimer(pollEvery)
	defer poll.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-s.stopping:
		return false
	case <-changes:
	case <-poll.C:
	}
	return true
}
