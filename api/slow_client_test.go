package api

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pipe is a listener with one connection, in memory, so that its deadlines run
// on the clock of a synctest bubble.
type pipe struct {
	server chan net.Conn
	closed chan struct{}
}

func (p pipe) Accept() (net.Conn, error) {
	select {
	case conn := <-p.server:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipe) Close() error   { close(p.closed); return nil }
func (p pipe) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// connect serves s and returns a connection to it.
func connect(t *testing.T, s *Server) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	listener := pipe{server: make(chan net.Conn, 1), closed: make(chan struct{})}
	listener.server <- server
	web, served := s.HTTP(""), make(chan struct{})
	go func() {
		defer close(served)
		_ = web.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = client.Close()
		_ = web.Close()
		<-served
		s.Stop()
	})
	return client
}

// A client that stops in the middle of its body does not hold a connection for
// ever.
func TestBodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, began := connect(t, New(Config{}, still{}, nil, anyone{})), time.Now()
		_, err := io.WriteString(conn, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nIdempotency-Key: k1\r\n"+
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
		require.Equal(t, bodyTimeout, time.Since(began))
	})
}

// The body's deadline does not outlive the body: a wait may be longer.
func TestBodyDeadlineEndsWithTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Routes: map[string]Route{"print": {Providers: []string{"inkjet"}}}}, taking{}, nil, anyone{})
		conn, began := connect(t, s), time.Now()
		body := `{"route":"print","input":1}`
		_, err := io.WriteString(conn, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nIdempotency-Key: k1\r\n"+
			"Content-Type: application/json\r\nPrefer: wait=60\r\nContent-Length: 27\r\n\r\n"+body)
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		require.Equal(t, http.StatusAccepted, response.StatusCode)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

// A client that takes nothing any more loses its stream.
func TestStreamNobodyTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		watched := make(chan time.Time, 1)
		conn := connect(t, New(Config{}, counted{ended: watched}, nil, anyone{}))
		began := time.Now()
		_, err := io.WriteString(conn, "GET /v1/jobs/job_1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nAccept: text/event-stream\r\n\r\n")
		require.NoError(t, err)
		require.Equal(t, stalledAfter, (<-watched).Sub(began))
	})
}
