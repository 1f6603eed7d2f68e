package api

import (
	"context"

	"onejob/auth"
	"onejob/jobs"
)

// Store is what this package asks of the record of jobs; *jobs.Store is one. Its
// refusals are *jobs.Refusal.
type Store interface {
	Submit(ctx context.Context, s jobs.Submission) (jobs.Submitted, error)
	KeyHeld(ctx context.Context, owner, key string) (bool, error)
	Get(ctx context.Context, id string) (*jobs.Job, error)
	List(ctx context.Context, q jobs.Query) (jobs.Page, error)
	Events(ctx context.Context, jobID, after string, limit int) ([]jobs.Event, error)
	Open(ctx context.Context, r jobs.OpenRequest) (jobs.Changed, error)
	CancelJob(ctx context.Context, d jobs.Decision) (jobs.Changed, error)
	Resolve(ctx context.Context, r jobs.Resolution) (jobs.Changed, error)
	Redeliver(ctx context.Context, d jobs.Decision, n int) (jobs.Changed, error)
	Watch(jobID string) (changed <-chan struct{}, stop func(), err error)
}

// Waker puts wake-ups on the queue and does not have anybody wait for it. It deals with its own errors: an attempt
// whose wake-up was lost is woken again by the sweeper (design §4).
type Waker interface {
	Wake(ctx context.Context, w jobs.Wake)
}

// Authenticator tells whose credentials a request carries. Its errors are
// auth.ErrUnauthorized, or that the store of keys cannot be asked.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer string) (auth.Identity, error)
}
