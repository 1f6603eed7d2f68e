package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// Events goes through the job's trail, oldest first, and goes on live with what
// happens, each event once. It begins after the event with the id after, or with
// the first if that is empty. A connection that breaks, or is silent for longer
// than the server's heartbeats, is resumed after the last event: it survives
// restarts and outages of the server.
//
// It ends by itself when the job is final (succeeded or cancelled): a failed job
// can be opened again, and its events go on. An error is yielded once, and ends it:
// ctx's own error, wrapped, when ctx ends; *Problem, such as ErrNotFound.
func (c *Client) Events(ctx context.Context, id, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		k, err := onJob("events", http.MethodGet, id, "/events")
		if err != nil {
			yield(Event{}, err)
			return
		}
		f := &follower{c: c, call: k, last: after, yield: yield}
		if err := f.follow(ctx); err != nil && !f.stopped {
			yield(Event{}, fmt.Errorf("client: events: %w", err))
		}
	}
}

// follower reads one trail over as many connections as it takes.
type follower struct {
	c       *Client
	call    call
	last    string // id of the event that was yielded last
	yield   func(Event, error) bool
	stopped bool // the caller has had enough
	heard   bool // the latest connection brought something
}

// errEnd is the end of the trail.
var errEnd = errors.New("the trail has ended")

func (f *follower) follow(ctx context.Context) error {
	for n := 1; ; n++ {
		f.heard = false
		fail := f.connect(ctx)
		if f.heard {
			n = 1
		}
		switch {
		case errors.Is(fail.err, errEnd):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !fail.again:
			return fail.err
		}
		pause := max(f.c.backoff.pause(n), fail.after)
		f.c.onRetry(Attempted{Call: f.call.name, Try: n, Err: fail.err, After: pause})
		if err := sleep(ctx, pause); err != nil {
			return &waitedError{err, fail.err}
		}
	}
}

// connect reads one connection to its end, and says what that was.
func (f *follower) connect(ctx context.Context) *failure {
	heard, cancel := context.WithCancel(ctx)
	defer cancel()
	watchdog := time.AfterFunc(f.c.silence, cancel)
	defer watchdog.Stop()
	r, err := f.c.request(heard, f.call)
	if err != nil {
		return &failure{err: err}
	}
	r.Header.Set("Accept", mediaEvents)
	if f.last != "" {
		r.Header.Set("Last-Event-ID", f.last)
	}
	response, err := f.c.http.Do(r)
	if err != nil {
		return unanswered(ctx, heard, err)
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusNoContent:
		return &failure{err: errEnd}
	case response.StatusCode >= http.StatusMultipleChoices:
		return refusal(response)
	case !isStream(response.Header):
		return &failure{err: fmt.Errorf("the server answered with %q, which is no event stream", response.Header.Get("Content-Type"))}
	}
	err = readMessages(response.Body, func() { watchdog.Reset(f.c.silence) }, f.take)
	if errors.Is(err, errEnd) || errors.Is(err, errForeign) {
		return &failure{err: err}
	}
	return unanswered(ctx, heard, fmt.Errorf("the stream broke off: %w", err))
}

// errForeign is an event that no onejob server sends.
var errForeign = errors.New("the stream holds what is no event of a job")

func (f *follower) take(m message) error {
	f.heard = true
	if m.event == "end" {
		return errEnd
	}
	var event Event
	if err := json.Unmarshal([]byte(m.data), &event); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	f.last = m.id
	if !f.yield(event, nil) {
		f.stopped = true
		return errEnd
	}
	return nil
}
