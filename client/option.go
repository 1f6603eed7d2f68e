package client

import (
	"net/http"
	"time"
)

// Option changes what a Client does by itself.
type Option func(*Client)

// WithHTTPClient makes calls with h, for its Transport: proxies, TLS, tracing. It
// is not changed; its CheckRedirect is not used, for redirects are not followed.
// Its Timeout, if it has one, ends waits, too, which then begin anew. Defaults to
// an http.Client of its own over http.DefaultTransport.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithTryTimeout bounds every single try, a wait's own time not counted: a
// connection that stalls for longer is given up and the try repeated with the same
// key. A server answers within 5 s. Defaults to 20 s.
func WithTryTimeout(d time.Duration) Option { return func(c *Client) { c.patience = d } }

// WithRetryFor bounds how long a call is tried again while the server is away or
// does not answer; its context bounds it, too. 0 makes one try. Wait, Do while it
// waits, and Events are not bounded by it, but by their contexts alone: a job goes
// on while its server is away. Defaults to 1 min.
func WithRetryFor(d time.Duration) Option { return func(c *Client) { c.retryFor = d } }

// WithHold sets how long the server is asked to hold the answer of one look of
// Wait: at least 1 s, at most 60 s, less than what lies between grants a silent
// answer. Defaults to 25 s.
func WithHold(d time.Duration) Option {
	return func(c *Client) { c.hold = min(max(d, time.Second), time.Minute) }
}

// Attempted tells of a try that will be repeated.
type Attempted struct {
	// Call is what was tried, such as submit or wait.
	Call string
	// Try counts from 1.
	Try int
	// Err is what came of it.
	Err error
	// After is the pause before the next.
	After time.Duration
}

// WithOnRetry calls f before every pause, on the goroutine that makes the call.
func WithOnRetry(f func(Attempted)) Option { return func(c *Client) { c.onRetry = f } }
