package providers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// DefaultDialTimeout bounds connecting and the TLS handshake, each.
const DefaultDialTimeout = 10 * time.Second

// idleTimeout is how long an unused connection is kept. It is shorter than what
// common servers keep theirs (5 s for Node and uvicorn): a request that meets
// the server's own closing of an idle connection ends as unknown, so that race
// is better not run.
const idleTimeout = 3 * time.Second

// maxHead bounds the head of an answer, in bytes.
const maxHead = 1 << 20

// maxStale is how many dead idle connections one call may meet before it gives
// up. They took no byte of it.
const maxStale = 5

// Transport carries creates (design §5). It differs from http.DefaultTransport
// where that would send a request twice or hide what was sent:
//
//   - A request is written at most once. net/http sends a POST again by itself
//     when it carries an Idempotency-Key and a reused connection breaks, if it
//     can get the body again; GetBody is therefore nil, always. Only a request
//     of which no connection took a single byte is put on another one.
//   - The Wire in the request's context (WithWire) is asked right before the
//     first byte, and told of every byte in both directions.
//   - HTTP/1.1 only, so that a connection belongs to one call at a time.
//   - No proxy from the environment: it would answer 502 and 504 in the
//     provider's name, and a create must not change its way because of a variable.
//   - No transparent compression: what is counted is what was sent.
//
// It is safe for concurrent use.
type Transport struct {
	base *http.Transport
}

// NewTransport returns a transport that gives up connecting after dialTimeout;
// 0 means DefaultDialTimeout.
func NewTransport(dialTimeout time.Duration) *Transport {
	return NewTLSTransport(dialTimeout, nil)
}

// NewTLSTransport is NewTransport with TLS settings, such as the root
// certificates of an internal authority; nil means Go's defaults.
func NewTLSTransport(dialTimeout time.Duration, settings *tls.Config) *Transport {
	if dialTimeout <= 0 {
		dialTimeout = DefaultDialTimeout
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	only1 := new(http.Protocols)
	only1.SetHTTP1(true)
	return &Transport{base: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: raw}, nil
		},
		DisableCompression:     true,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    64,
		MaxResponseHeaderBytes: maxHead,
		Protocols:              only1,
		TLSClientConfig:        settings,
		TLSHandshakeTimeout:    dialTimeout,
	}}
}

// SharedTransport is the transport of every provider whose Config names none.
var SharedTransport = sync.OnceValue(func() *Transport { return NewTransport(DefaultDialTimeout) })

// Client returns a client over transport that follows no redirect and has no
// time-out of its own: the context decides. A nil transport means SharedTransport.
func Client(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = SharedTransport()
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CloseIdleConnections closes connections that no call is using.
func (t *Transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// RoundTrip sends req once. See Transport.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	wire := wireFrom(req.Context())
	body, err := takeBody(req)
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	for stale := 0; ; stale++ {
		var reused bool
		resp, err := t.base.RoundTrip(sendable(req, body, wire, &reused))
		if err == nil {
			return observed(resp, wire), nil
		}
		if !reused || stale >= maxStale || !nothingLeft(req.Context(), wire, err) {
			return nil, err
		}
	}
}

// nothingLeft tells whether the call may be put on another connection: it is a
// create of which no byte was taken, and nobody called it off.
func nothingLeft(ctx context.Context, wire *Wire, err error) bool {
	return wire != nil && wire.unsent() && wire.refusal() == nil &&
		ctx.Err() == nil && !errors.Is(err, errSealed)
}

// takeBody reads the body whole: requests are bounded (1 MiB at the door).
func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	return body, errors.Join(err, req.Body.Close())
}

// sendable returns a copy of req that net/http can write once and not again.
func sendable(req *http.Request, body []byte, wire *Wire, reused *bool) *http.Request {
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		*reused = got.Reused
		if ours := tracked(got.Conn); ours != nil {
			ours.bind(wire)
		}
	}}
	out := req.Clone(httptrace.WithClientTrace(req.Context(), trace))
	out.GetBody = nil
	out.ContentLength = int64(len(body))
	out.Body = http.NoBody
	if len(body) > 0 || wire != nil {
		// Even an empty create gets a body: one without any counts as replayable.
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	return out
}

// observed notes the head of the answer and watches its body.
func observed(resp *http.Response, wire *Wire) *http.Response {
	if wire == nil {
		return resp
	}
	wire.Note(func(e *Evidence) {
		e.Status = resp.StatusCode
		// Anthropic leaves the X- out.
		e.RequestID = shorten(cmp.Or(resp.Header.Get("X-Request-Id"), resp.Header.Get("Request-Id")))
	})
	resp.Body = &watchedBody{ReadCloser: resp.Body, wire: wire}
	return resp
}

// watchedBody notes when the answer has arrived whole.
type watchedBody struct {
	io.ReadCloser
	wire *Wire
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.wire.Note(func(e *Evidence) { e.Complete = true })
	}
	return n, err
}
