package api_test

import (
	"context"

	"onejob/api"
	"onejob/jobs"
)

// gate is a store whose submits wait at the door.
type gate struct {
	api.Store
	entered, release chan struct{}
}

func (g gate) Submit(ctx context.Context, s jobs.Submission) (jobs.Submitted, error) {
	select {
	case g.entered <- struct{}{}:
		<-g.release
	case <-g.release:
	}
	return g.Store.Submit(ctx, s)
}

// broken is a store that answers everything with one error, or panics.
type broken struct {
	api.Store
	err error
}

func (s broken) fail() error {
	if s.err == nil {
		panic("a secret of the store")
	}
	return s.err
}

func (s broken) Submit(context.Context, jobs.Submission) (jobs.Submitted, error) {
	return jobs.Submitted{}, s.fail()
}
func (s broken) Get(context.Context, string) (*jobs.Job, error)      { return nil, s.fail() }
func (s broken) List(context.Context, jobs.Query) (jobs.Page, error) { return jobs.Page{}, s.fail() }

// deaf is a store that gives no signals.
type deaf struct {
	api.Store
	err error
}

func (d deaf) Watch(string) (<-chan struct{}, func(), error) { return nil, nil, d.err }
