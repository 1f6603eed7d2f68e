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

const (
	// heartbeatEvery is how often a silent stream sends a comment, so that what
	// lies between keeps the connection and a client that is gone is noticed.
	heartbeatEvery = 15 * time.Second
	// stalledAfter is how long a client may take to take what is sent to it.
	stalledAfter = 30 * time.Second
)

// eventStream writes server-sent events (WHATWG HTML §9.2).
type eventStream struct {
	response   *echo.Response
	controller *http.ResponseController
	last       string    // id of the event sent last; where the next read goes on
	sent       time.Time // when anything was sent last
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
	stream := newEventStream(c, after)
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
			return err // the client comes again with Last-Event-ID
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
	return stream.write(": still here\n\n") == nil
}

func newEventStream(c echo.Context, after string) *eventStream {
	h := c.Response().Header()
	h.Set("Content-Type", mediaEvents)
	h.Set("X-Accel-Buffering", "no") // proxies that buffer would hold events back
	c.Response().WriteHeader(http.StatusOK)
	return &eventStream{response: c.Response(), controller: http.NewResponseController(c.Response()), last: after}
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
	return e.write(text)
}

// end says that nothing comes any more, for clients that would wait for it.
func (e *eventStream) end() error { return e.write("event: end\ndata: {}\n\n") }

func (e *eventStream) write(text string) error {
	// Not every writer has deadlines; the server's connections do.
	_ = e.controller.SetWriteDeadline(time.Now().Add(stalledAfter))
	if _, err := e.response.Write([]byte(text)); err != nil {
		return fmt.Errorf("write an event stream: %w", err)
	}
	if err := e.controller.Flush(); err != nil {
		return fmt.Errorf("flush an event stream: %w", err)
	}
	e.sent = time.Now()
	return nil
}
