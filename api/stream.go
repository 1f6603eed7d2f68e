package api

import (
	"fmt"
	"net/http"
	"time"
)

// stalledAfter is how long a client may take to take what is sent to it.
const stalledAfter = 30 * time.Second

// Stream is an answer of server-sent events (WHATWG HTML §9.2). Every write is
// flushed; one that the client does not take within 30 s fails.
type Stream struct {
	response   http.ResponseWriter
	controller *http.ResponseController
	sent       time.Time // when anything was sent last
}

// OpenStream answers 200 and sends the headers with the first write.
func OpenStream(w http.ResponseWriter) *Stream {
	h := w.Header()
	h.Set("Content-Type", mediaEvents)
	h.Set("X-Accel-Buffering", "no") // proxies that buffer would hold events back
	w.WriteHeader(http.StatusOK)
	return &Stream{response: w, controller: http.NewResponseController(w)}
}

// Write sends text, which must be whole lines.
func (s *Stream) Write(text string) error {
	// Not every writer has deadlines; the server's connections do.
	_ = s.controller.SetWriteDeadline(time.Now().Add(stalledAfter))
	if _, err := s.response.Write([]byte(text)); err != nil {
		return fmt.Errorf("write an event stream: %w", err)
	}
	if err := s.controller.Flush(); err != nil {
		return fmt.Errorf("flush an event stream: %w", err)
	}
	s.sent = time.Now()
	return nil
}
