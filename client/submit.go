package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Request is one intent.
type Request struct {
	// Route is the named kind of work.
	Route string
	// Input is what the provider gets: any JSON value. A json.RawMessage is sent as
	// it is, anything else as json.Marshal has it; nil is null.
	Input any
	// Key binds the intent to one job for ever: 1 to 255 visible ASCII characters.
	// Defaults to a new one; the Job that is returned, and any error after which a
	// job may exist, carries it.
	Key string
	// Provider is that of the first attempt. Defaults to the route's first.
	Provider string
	// Params are options for the provider, of the names the route lets callers set.
	Params map[string]any
	// Metadata is shown with the job and sent nowhere: at most 50 entries.
	Metadata map[string]string
	// WebhookURL is told when the job has ended.
	WebhookURL string
	// StartWithin makes the job fail if nothing has started by then. Defaults to
	// no limit; 1 ms at least.
	StartWithin time.Duration
}

// body is the request as it is sent, over all tries.
func (r Request) body() ([]byte, error) {
	var startWithin string
	if r.StartWithin != 0 {
		startWithin = r.StartWithin.String()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Route       string            `json:"route"`
		Input       any               `json:"input"`
		Provider    string            `json:"provider,omitempty"`
		Params      map[string]any    `json:"params,omitempty"`
		Metadata    map[string]string `json:"metadata,omitempty"`
		WebhookURL  string            `json:"webhook_url,omitempty"`
		StartWithin string            `json:"start_within,omitempty"`
	}{r.Route, r.Input, r.Provider, r.Params, r.Metadata, r.WebhookURL, startWithin})
	if err != nil {
		return nil, fmt.Errorf("client: the request cannot be written as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// Submit makes the job of the intent, or finds the one it made before, and returns
// it as it is now, without waiting for its end. It tries again with the same key
// and the same bytes when the connection breaks, the answer is cut off, or the
// server says that it cannot serve now, for as long as WithRetryFor and ctx allow.
//
// Errors: *Problem when the server refuses, among them ErrConflict when the key
// belongs to another body; *UnknownError when the job may exist; *UnreachableError
// when nothing was sent. The last two carry the key.
func (c *Client) Submit(ctx context.Context, r Request) (*Job, error) {
	if r.Key == "" {
		r.Key = NewKey()
	}
	header, err := keyHeader(r.Key)
	if err != nil {
		return nil, err
	}
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	a, err := c.do(ctx, call{
		name: "submit", method: http.MethodPost, path: "/v1/jobs",
		header: http.Header{"Idempotency-Key": {header}}, body: body, key: r.Key, writes: true,
	})
	if err != nil {
		return nil, err
	}
	job, err := a.job()
	if err != nil {
		return nil, &UnknownError{Call: "submit", Key: r.Key, Err: err}
	}
	job.Replayed = a.header.Get("Idempotent-Replayed") == "true"
	return job, nil
}

// Do submits the intent, waits until its job has ended, and returns it.
//
// Errors besides those of Submit and Wait: *JobError when the job failed or was
// cancelled. The job is returned with the error wherever it is known; after the end
// of ctx it goes on, and Do with the same Request and its key waits for it again.
func (c *Client) Do(ctx context.Context, r Request) (*Job, error) {
	job, err := c.Submit(ctx, r)
	if err != nil {
		return nil, err
	}
	if !job.State.Ended() {
		replayed := job.Replayed
		if job, err = c.wait(ctx, job.ID, job); err != nil {
			return job, err
		}
		job.Replayed = replayed
	}
	err = job.Err()
	return job, err
}
