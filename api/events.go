package api

import (
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"onejob/auth"
	"onejob/jobs"
)

// mediaEvents is the media type of a stream of server-sent events.
const mediaEvents = "text/event-stream"

var eventParams = []string{"limit", "after"}

// showEvents is GET /v1/jobs/{id}/events: the trail, oldest first; as an event
// stream it goes on live.
func (s *Server) showEvents(c echo.Context, who auth.Identity) error {
	job, err := s.jobOf(c, who)
	if err != nil {
		return err
	}
	params, p := queryOf(c.Request(), eventParams)
	if p != nil {
		return p
	}
	limit, p := limitOf(params, defaultEvents, maxEvents)
	if p != nil {
		return p
	}
	after := params.Get("after")
	if wantsStream(c.Request().Header) {
		if last := c.Request().Header.Get("Last-Event-Id"); last != "" {
			after = last // of a connection that broke off: the newer of the two
		}
		return s.streamEvents(c, job.ID, after)
	}
	return s.listEvents(c, job.ID, after, limit)
}

func (s *Server) listEvents(c echo.Context, jobID, after string, limit int) error {
	ctx, cancel := reading(c.Request().Context())
	defer cancel()
	events, err := s.store.Events(ctx, jobID, after, limit+1)
	if err != nil {
		return err
	}
	out := list[jobs.Event]{Data: events[:min(limit, len(events))], HasMore: len(events) > limit}
	if out.HasMore {
		out.NextCursor = events[limit-1].ID
	}
	return answer(c, http.StatusOK, out)
}

// wantsStream tells whether the caller accepts an event stream by name.
func wantsStream(h http.Header) bool {
	for _, header := range h.Values("Accept") {
		for item := range strings.SplitSeq(header, ",") {
			media, params, err := mime.ParseMediaType(strings.TrimSpace(item))
			if err == nil && media == mediaEvents && params["q"] != "0" {
				return true
			}
		}
	}
	return false
}
