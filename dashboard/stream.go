package dashboard

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"onejob/auth"
)

// Times of a live page.
const (
	// changedEvery is how often at most a page hears that jobs have changed.
	changedEvery = time.Second
	// beatEvery is how often a page hears that time has passed, which is for what no
	// job tells of; the session is looked at as often.
	beatEvery = auth.CacheTTL
	// streamWrite is how long a browser may take to receive an event.
	streamWrite = 10 * time.Second
)

// maxStreams bounds the live pages of one process.
const maxStreams = 500

type streams struct{ open atomic.Int64 }

// stream is GET /stream: server-sent events (HTML Living Standard §9.2) that say when
// to look again, and nothing else. It ends with the session, with the browser and
// with the server.
func (p *Pages) stream(w http.ResponseWriter, r *http.Request) error {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return refuse("request-invalid", "This address is an event stream; ask with Accept: text/event-stream.")
	}
	if err := p.watching(r); err != nil {
		if errors.Is(err, errNoSession) {
			return noSession(w)
		}
		return p.away("opening an event stream", err)
	}
	if p.streams.open.Add(1) > maxStreams {
		p.streams.open.Add(-1)
		return refuse("store-unavailable", "Too many live pages are open; load the page again to see what is new.")
	}
	defer p.streams.open.Add(-1)
	changed, stop, err := p.cfg.Watch.WatchAll()
	if err != nil {
		return p.away("watching jobs", err)
	}
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	p.follow(w, r, changed)
	return nil
}

// watching looks whether a stream's session goes on, which the stream never keeps
// from ending.
func (p *Pages) watching(r *http.Request) error {
	ctx, cancel := reading(r.Context())
	defer cancel()
	_, err := p.sessions.find(ctx, cookieSession.read(r, p.secure(r)), false)
	return err
}

func (p *Pages) follow(w http.ResponseWriter, r *http.Request, changed <-chan struct{}) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	pause := time.NewTimer(0) // since the latest event about jobs
	defer pause.Stop()
	var may <-chan struct{} // changed, once pause is over
	if send(w, "retry: 2000\n\n") != nil {
		return
	}
	for {
		event := ""
		select {
		case <-r.Context().Done():
			return
		case <-p.stopping:
			return
		case <-pause.C:
			may = changed
		case <-may:
			may, event = nil, "changed"
			pause.Reset(changedEvery)
		case <-beat.C:
			event = "beat"
			if err := p.watching(r); errors.Is(err, errNoSession) {
				_ = send(w, "event: ended\ndata: session\n\n")
				return
			}
		}
		if event != "" && send(w, fmt.Sprintf("event: %s\ndata: %d\n\n", event, time.Now().UnixMilli())) != nil {
			return
		}
	}
}

// send writes at once, and not for long.
func send(w http.ResponseWriter, text string) error {
	control := http.NewResponseController(w)
	// Not every writer can; then a browser that does not read ends with its connection.
	_ = control.SetWriteDeadline(time.Now().Add(streamWrite))
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	if err := control.Flush(); err != nil {
		return fmt.Errorf("sending an event: %w", err)
	}
	return nil
}
