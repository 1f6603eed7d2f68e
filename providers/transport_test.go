package providers

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// post makes one create over tr.
func post(t *testing.T, tr http.RoundTripper, url string, wire *Wire) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(WithWire(ctx, wire), http.MethodPost, url, strings.NewReader(`{"a":1}`))
	require.NoError(t, err)
	req.Header.Set("Idempotency-Key", "k1")
	return Do(Client(tr), req, MaxResult)
}

func tlsTransport(t *testing.T, server *httptest.Server) *Transport {
	t.Helper()
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	tr := NewTLSTransport(5*time.Second, &tls.Config{RootCAs: roots})
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func TestTLSCountsAndNotes(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "HTTP/1.1", r.Proto)
		w.Header().Set("X-Request-Id", "r1")
		_, _ = io.WriteString(w, "{}")
	}))
	server.EnableHTTP2 = true // it is offered, and not taken
	server.StartTLS()
	defer server.Close()
	wire := NewWire(nil)
	answer := post(t, tlsTransport(t, server), server.URL, wire)
	require.NoError(t, answer.Err)
	seen := wire.Evidence()
	require.Greater(t, seen.BytesWritten, int64(100))
	require.Greater(t, seen.BytesRead, int64(100))
	require.Equal(t, 200, seen.Status)
	require.Equal(t, "r1", seen.RequestID)
	require.True(t, seen.Complete)
	require.False(t, seen.FirstByteAt.Before(seen.SentAt))
}

// The lease is asked after connecting and the handshake, right before the bytes.
func TestTLSGateClosed(t *testing.T) {
	t.Parallel()
	var creates atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { creates.Add(1) }))
	defer server.Close()
	wire := NewWire(func() error { return ErrNotEntitled })
	answer := post(t, tlsTransport(t, server), server.URL, wire)
	require.ErrorIs(t, answer.Err, ErrNotEntitled)
	require.Zero(t, wire.Evidence().BytesWritten)
	require.False(t, wire.Seal())
	require.Zero(t, creates.Load())
}

func TestTLSUnknownAuthority(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	tr := NewTransport(5 * time.Second)
	defer tr.CloseIdleConnections()
	wire := NewWire(nil)
	answer := post(t, tr, server.URL, wire)
	require.Error(t, answer.Err)
	require.False(t, wire.Seal())
	require.Equal(t, "TLS handshake failed: the certificate was not accepted", plain(answer.Err))
}

// A reused connection that breaks after the effect: exactly one create each.
func TestTLSReusedConnectionBreaksAfterTheEffect(t *testing.T) {
	t.Parallel()
	var creates atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if creates.Add(1) == 1 {
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	defer server.Close()
	tr := tlsTransport(t, server)
	require.NoError(t, post(t, tr, server.URL, NewWire(nil)).Err)
	wire := NewWire(nil)
	require.Error(t, post(t, tr, server.URL, wire).Err)
	require.True(t, wire.Seal(), "the call left")
	require.EqualValues(t, 2, creates.Load())
}

// A create without a body counts as replayable for net/http, too.
func TestEmptyCreateIsNotSentAgain(t *testing.T) {
	t.Parallel()
	var creates atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if creates.Add(1) == 1 {
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	defer server.Close()
	tr := NewTransport(5 * time.Second)
	defer tr.CloseIdleConnections()
	for range 2 {
		req, err := http.NewRequestWithContext(WithWire(t.Context(), NewWire(nil)), http.MethodPost, server.URL, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Idempotency-Key", "k1")
		Do(Client(tr), req, MaxResult)
	}
	require.EqualValues(t, 2, creates.Load())
}

// A look-up over a connection of an earlier create is none of that create's
// business: its gate is not asked and its evidence does not change.
func TestConnectionsForgetTheLastCall(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	tr := NewTransport(5 * time.Second)
	defer tr.CloseIdleConnections()
	var over atomic.Bool
	wire := NewWire(func() error {
		if over.Load() {
			return ErrNotEntitled
		}
		return nil
	})
	require.NoError(t, post(t, tr, server.URL, wire).Err)
	over.Store(true)
	before := wire.Evidence()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	require.NoError(t, err)
	require.NoError(t, Do(Client(tr), req, MaxResult).Err)
	require.Equal(t, before, wire.Evidence())
}

// deadOnce is a connection that takes no byte after its first request.
type deadOnce struct {
	net.Conn
	answered *atomic.Bool
}

func (d *deadOnce) Write(p []byte) (int, error) {
	if d.answered.Load() {
		return 0, &net.OpError{Op: "write", Err: syscall.EPIPE}
	}
	return d.Conn.Write(p)
}

// A reused connection that took no byte is no reason to fail: the create goes
// over another one, and the lease is asked again before it does.
func TestStaleConnectionThatTookNothing(t *testing.T) {
	t.Parallel()
	for _, entitled := range []bool{true, false} {
		var creates, dials, asked atomic.Int64
		var stale atomic.Bool
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { creates.Add(1) }))
		tr := NewTransport(5 * time.Second)
		tr.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if dials.Add(1) == 1 {
				raw = &deadOnce{Conn: raw, answered: &stale}
			}
			return &conn{Conn: raw}, nil
		}
		require.NoError(t, post(t, tr, server.URL, NewWire(nil)).Err)
		stale.Store(true)
		wire := NewWire(func() error {
			if asked.Add(1) == 2 && !entitled {
				return ErrNotEntitled
			}
			return nil
		})
		answer := post(t, tr, server.URL, wire)
		require.EqualValues(t, 2, asked.Load())
		require.EqualValues(t, 2, dials.Load())
		if entitled {
			require.NoError(t, answer.Err)
			require.EqualValues(t, 2, creates.Load())
		} else {
			require.ErrorIs(t, answer.Err, ErrNotEntitled)
			require.False(t, wire.Seal())
			require.EqualValues(t, 1, creates.Load())
		}
		tr.CloseIdleConnections()
		server.Close()
	}
}

// A fresh connection that takes nothing is not tried again.
func TestFreshConnectionThatTookNothing(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var dials atomic.Int64
	var stale atomic.Bool
	stale.Store(true)
	tr := NewTransport(5 * time.Second)
	defer tr.CloseIdleConnections()
	tr.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &conn{Conn: &deadOnce{Conn: raw, answered: &stale}}, err
	}
	wire := NewWire(nil)
	require.Error(t, post(t, tr, server.URL, wire).Err)
	require.False(t, wire.Seal(), "nothing was written")
	require.EqualValues(t, 1, dials.Load())
}

// A call that ends while its gate is being asked must not leave afterwards.
func TestCalledOffAtTheGate(t *testing.T) {
	t.Parallel()
	var creates atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { creates.Add(1) }))
	defer server.Close()
	tr := NewTransport(5 * time.Second)
	defer tr.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	wire := NewWire(func() error { cancel(); return errors.New("too late") })
	req, err := http.NewRequestWithContext(WithWire(ctx, wire), http.MethodPost, server.URL, strings.NewReader("{}"))
	require.NoError(t, err)
	judge := Judge{}
	outcome := judge.Outcome(ctx, wire, Do(Client(tr), req, MaxResult))
	require.Equal(t, ReasonNotSent, outcome.Reason)
	require.Equal(t, "not sent: too late", outcome.Message)
	require.Zero(t, creates.Load())
}

func TestNothingFromTheEnvironment(t *testing.T) {
	t.Parallel()
	require.Nil(t, NewTransport(0).base.Proxy, "no proxy may answer in the provider's name")
	require.True(t, NewTransport(0).base.DisableCompression)
}
