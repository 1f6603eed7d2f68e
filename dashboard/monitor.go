package dashboard

import (
	"errors"
	"net/http"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
)

// Root is where the monitor is served; it must be mounted there and below.
const Root = "/monitor"

// QueueMonitor is asynqmon behind our keys. It is safe for concurrent use.
type QueueMonitor struct {
	keys Authenticator
	full *asynqmon.HTTPHandler
	read *asynqmon.HTTPHandler // shows no buttons, and would refuse them
}

// Monitor returns the monitor of the queues in the Redis of conn. Operators may
// do all that asynqmon can, viewers look, owners are refused. It makes
// connections of its own, which Close closes.
func Monitor(conn asynq.RedisConnOpt, keys Authenticator) *QueueMonitor {
	return &QueueMonitor{
		keys: keys,
		full: asynqmon.New(asynqmon.Options{RootPath: Root, RedisConnOpt: conn}),
		read: asynqmon.New(asynqmon.Options{RootPath: Root, RedisConnOpt: conn, ReadOnly: true}),
	}
}

// Serve answers one request, or returns a Refusal and answers nothing.
func (m *QueueMonitor) Serve(w http.ResponseWriter, r *http.Request) error {
	who, err := identify(w, r, m.keys)
	if err == nil {
		err = admit(r, who)
	}
	if err != nil {
		return err
	}
	protect(w.Header())
	if who.MayOperate() {
		m.full.ServeHTTP(w, r)
	} else {
		m.read.ServeHTTP(w, r)
	}
	return nil
}

// Close closes the monitor's connections.
func (m *QueueMonitor) Close() error { return errors.Join(m.full.Close(), m.read.Close()) }

// protect replaces the API's policy, under which asynqmon's inline scripts and
// web fonts would not load, with one that keeps the page out of frames, where
// its buttons could be clicked unseen.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "frame-ancestors 'none'; base-uri 'self'; object-src 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}
