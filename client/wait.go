package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Get returns the job as it is now.
func (c *Client) Get(ctx context.Context, id string) (*Job, error) {
	k, err := onJob("get", http.MethodGet, id, "")
	if err != nil {
		return nil, err
	}
	return c.read(ctx, k)
}

// Wait returns the job when it has ended, however it did: see Job.State and
// Job.Err. It survives restarts and outages of the server; only ctx and answers
// like ErrNotFound end it before. A job that is unknown has not ended: BlockedBy
// says whether it can still settle by itself.
//
// Errors: *NotEndedError at the end of ctx, with the job as last seen, which is
// returned, too; *Problem.
func (c *Client) Wait(ctx context.Context, id string) (*Job, error) {
	return c.wait(ctx, id, nil)
}

func (c *Client) wait(ctx context.Context, id string, last *Job) (*Job, error) {
	look, err := onJob("wait", http.MethodGet, id, "")
	if err != nil {
		return last, err
	}
	look.header.Set("Prefer", fmt.Sprintf("wait=%d", c.hold/time.Second))
	look.held, look.endless = c.hold, true
	for n := 1; ; n++ {
		began := time.Now()
		job, err := c.read(ctx, look)
		switch {
		case err != nil && ctx.Err() != nil:
			return last, &NotEndedError{JobID: id, Job: last, Err: ctx.Err()}
		case err != nil:
			return last, err
		case job.State.Ended():
			return job, nil
		}
		last = job
		if time.Since(began) > c.hold/2 {
			n = 0 // held as it was asked
			continue
		}
		// A server that stops, or one behind something that drops Prefer, answers
		// at once.
		if err := sleep(ctx, c.backoff.pause(n)); err != nil {
			return last, &NotEndedError{JobID: id, Job: last, Err: err}
		}
	}
}

func (c *Client) read(ctx context.Context, k call) (*Job, error) {
	a, err := c.do(ctx, k)
	if err != nil {
		return nil, err
	}
	return a.job()
}

// onJob is a call about one job. An id that could lead to another address is none.
func onJob(name, method, id, rest string) (call, error) {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_'
	}
	if id == "" || strings.ContainsFunc(id, odd) {
		return call{}, fmt.Errorf("client: %q is not the id of a job", id)
	}
	return call{name: name, method: method, path: "/v1/jobs/" + id + rest, header: http.Header{}}, nil
}
