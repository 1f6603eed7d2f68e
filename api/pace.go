package api

import (
	"net/http"
	"time"
)

const (
	// pacePiece is how much of an answer a client may take paceTime for, in bytes.
	pacePiece = 64 << 10
	// paceTime is longer than net/http, before it sends an answer, may wait for what
	// is left of the request's body.
	paceTime = headerTimeout + bodyTimeout + 5*time.Second
)

// pacedWriter keeps a client that takes its answer too slowly, or not at all, from
// holding it, and the connection, for ever: a piece of 64 KiB that it does not take
// within 45 s fails, and so does the answer. There is no limit on the whole, because
// waits and streams are long by design, so that net/http's own WriteTimeout is none.
// Whoever sets a deadline of his own, as a stream does, looks after it himself.
type pacedWriter struct {
	http.ResponseWriter
	controller *http.ResponseController
	own        bool
	extended   time.Time
}

func paced(w http.ResponseWriter) *pacedWriter {
	return &pacedWriter{ResponseWriter: w, controller: http.NewResponseController(w)}
}

// WriteHeader also bounds the last flush of an answer without a body.
func (p *pacedWriter) WriteHeader(status int) {
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	for written := 0; ; {
		p.extend()
		n, err := p.ResponseWriter.Write(b[written:min(len(b), written+pacePiece)])
		if written += n; err != nil || written == len(b) {
			return written, err //nolint:wrapcheck // what we are wrapped around
		}
	}
}

// extend moves the deadline on, once in a second at most, so that a piece may have a
// second less: an answer has its head and its body written at the same moment. Not
// every writer has one; the server's connections do, and net/http lifts it after the
// answer.
func (p *pacedWriter) extend() {
	now := time.Now()
	if p.own || now.Sub(p.extended) < time.Second {
		return
	}
	p.extended = now
	_ = p.controller.SetWriteDeadline(now.Add(paceTime))
}

// SetWriteDeadline is http.ResponseController's.
func (p *pacedWriter) SetWriteDeadline(at time.Time) error {
	p.own = true
	return p.controller.SetWriteDeadline(at) //nolint:wrapcheck // what we are wrapped around
}

// Unwrap lets http.ResponseController find what is beneath.
func (p *pacedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
