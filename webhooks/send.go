package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Limits of a delivery.
const (
	defaultTimeout = 15 * time.Second // Standard Webhooks asks for 15 to 30 s
	maxAnswer      = 64 << 10         // bytes of an answer that are read, to use the connection again; none is kept
	maxHeader      = 64 << 10
	connectTime    = 5 * time.Second
	idleTime       = 30 * time.Second
)

// errBadSecret says that a stored secret is not one.
var errBadSecret = errors.New("it is not whsec_ and base64")

// Message is one try of one event.
type Message struct {
	ID      string // webhook-id: the same for every try
	URL     string
	Body    []byte
	Secrets []string // that sign it, the current one first
}

// Outcome is what came of a try. Delivered is a 2xx answer; everything else is not,
// a redirect among it: it is not followed.
type Outcome struct {
	Delivered  bool
	Gone       bool          // 410: the receiver wants no more
	Slow       bool          // 429, 502 or 504: it is overloaded
	Status     int           // 0: there was no answer
	RetryAfter time.Duration // what it asked for; 0: nothing
	Error      string        // what went wrong, in our own words: nothing the receiver sent
	Took       time.Duration
}

// Sender sends. It is safe for concurrent use.
type Sender struct {
	addresses Addresses
	timeout   time.Duration
	client    *http.Client
	now       func() time.Time
}

// NewSender returns a Sender that goes to addresses only, and waits for timeout at
// most for the whole of an exchange; 0: 15 s. It knows no proxy: one would look up
// names by itself.
func NewSender(addresses Addresses, timeout time.Duration) *Sender {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return newSender(addresses, timeout, &net.Dialer{Timeout: min(connectTime, timeout)})
}

func newSender(addresses Addresses, timeout time.Duration, dialer *net.Dialer) *Sender {
	dialer.Control = addresses.control()
	return &Sender{
		addresses: addresses, timeout: timeout, now: time.Now,
		client: &http.Client{
			Timeout: timeout,
			Transport: &http.Transport{
				DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: connectTime,
				TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, IdleConnTimeout: idleTime,
				MaxIdleConnsPerHost: 2, MaxResponseHeaderBytes: maxHeader, DisableCompression: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Timeout is how long one try takes at most.
func (s *Sender) Timeout() time.Duration { return s.timeout }

// Close gives up the connections that are kept for later.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send makes one try. It never fails: what went wrong is in the Outcome.
func (s *Sender) Send(ctx context.Context, m Message) Outcome {
	began := time.Now()
	o := s.send(ctx, m)
	o.Took = time.Since(began)
	return o
}

func (s *Sender) send(ctx context.Context, m Message) Outcome {
	if err := s.addresses.Check(m.URL); err != nil { // the rules may have changed since
		return Outcome{Error: "the URL is refused: " + err.Error()}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return Outcome{Error: "the URL cannot be called"}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "onejob-webhooks/1")
	if err := sign(request.Header, m.ID, s.now(), m.Body, m.Secrets); err != nil {
		return Outcome{Error: err.Error()}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return Outcome{Error: whyNot(err)}
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
	return judge(response, s.now())
}

// judge reads an answer (Standard Webhooks, "Delivery").
func judge(r *http.Response, now time.Time) Outcome {
	o := Outcome{Status: r.StatusCode}
	switch code := r.StatusCode; {
	case code >= 200 && code < 300:
		o.Delivered = true
		return o
	case code == http.StatusGone:
		o.Gone = true
	case code >= 300 && code < 400:
		o.Error = fmt.Sprintf("answered %d; redirects are not followed", code)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusGatewayTimeout:
		o.Slow = true
	}
	if o.Error == "" {
		o.Error = fmt.Sprintf("answered %d", r.StatusCode)
	}
	o.RetryAfter = retryAfter(r.Header.Get("Retry-After"), now)
	return o
}

// whyNot says why there was no answer, in a few words that tell nothing of the
// network the process is in.
func whyNot(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.Is(err, errPrivate):
		return errPrivate.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host is not known"
	case errors.As(err, &dns):
		return "the host could not be looked up"
	case errors.As(err, &certificate):
		return "the certificate is not valid for the host"
	case errors.Is(err, context.Canceled):
		return "the worker was stopped"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	}
	return connectionError(err)
}
