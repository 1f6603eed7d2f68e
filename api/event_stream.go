package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"onejob/jobs"
)

// heartbeatEvery is how often a silent stream sends a comment, so that what lies
// between keeps the connection and a client that is gone is noticed.
const heartbeatEvery = 15 * time.Second

// eventStream sends the trail of a job.
type eventStream struct {
	*Stream
	last string // id of the event sent last; where the next read goes on
}

// streamEvents sends the trail after the event with the id after, then what
// comes, until the job is final: a failed job can be reopened, and its stream
// goes on.
func (s *Server) streamEvents(c echo.Context, jobID, after string) error {
	changes, stop := s.watch(jobID)
	defer stop()
	// The first look may still be answered with a problem, or with nothing.
	events, final, err := s.newEvents(c.Request().Context(), jobID, after)
	if err != nil {
		return err
	}
	if final && after != "" && len(events) == 0 {
		// 204 is what tells an EventSource not to connect again (§9.2.3).
		return c.NoContent(http.StatusNoContent) //nolint:wrapcheck // the client is gone
	}
	stream := &eventStream{OpenStream(c.Response()), after}
	for {
		if err := stream.send(events); err != nil {
			return err
		}
		if final && len(events) < maxEvents {
			return stream.end()
		}
		if len(events) < maxEvents && !s.untilNext(c.Request().Context(), stream, changes) {
			return nil
		}
		if events, final, err = s.newEvents(c.Request().Context(), jobID, stream.last); err != nil {
			if !unreachable(err) {
				return err
			}
			// A store that is away for a while does not end the stream: an
			// EventSource that came back to a 503 would give up for good (§9.2.3).
			events, final = nil, false
		}
	}
}

// newEvents reads on in the trail. The job is read first: once it was final, all
// of its trail is there.
func (s *Server) newEvents(ctx context.Context, jobID, after string) (events []jobs.Event, final bool, err error) {
	ctx, cancel := reading(ctx)
	defer cancel()
	job, err := s.store.Get(ctx, jobID)
	if err != nil {
		return nil, false, err
	}
	events, err = s.store.Events(ctx, jobID, after, maxEvents)
	return events, job.State.Final(), err
}

// untilNext waits for the next look, and keeps the connection warm.
func (s *Server) untilNext(ctx context.Context, stream *eventStream, changes <-chan struct{}) bool {
	if !s.nextLook(ctx, changes) {
		return false
	}
	if time.Since(stream.sent) < heartbeatEvery {
		return true
	}
	return stream.Write(": still here\n\n") == nil
}

// send writes events and flushes them; with none it sends nothing, except at the
// start, where the client learns that it is connected.
func (e *eventStream) send(events []jobs.Event) error {
	if len(events) == 0 && !e.sent.IsZero() {
		return nil
	}
	text := ""
	if e.sent.IsZero() {
		text = "retry: 2000\n\n"
	}
	for _, event := range events {
		data, err := json.Marshal(event)
		if err != nil {
			return fmt.Errorf("encode event %s: %w", event.ID, err)
		}
		text += fmt.Sprintf("id: %s\ndata: %s\n\n", event.ID, data)
		e.last = event.ID
	}
	return e.Write(text)
}

// end says that nothing comes any more, for clients that would wait for it.
func (e *eventStream) end() error { return e.Write("event: end\ndata: {}\n\n") }
