package providertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Server is a provider made of a TCP listener: it counts what arrives and
// answers with exactly the bytes a Script writes.
type Server struct {
	// URL is where it listens, without a path.
	URL string

	script   Script
	listener net.Listener
	creates  atomic.Int64
	requests atomic.Int64
	received atomic.Int64
	done     chan struct{}
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Script answers one request. The connection is kept for the next request when
// it returns true, else closed.
type Script func(*Exchange) (keep bool)

// Exchange is one request and the connection it came on.
type Exchange struct {
	Request *http.Request
	Body    []byte
	// Nth counts the requests of this connection from 1, Create the POSTs and PUTs
	// of the server: it is 0 for other methods.
	Nth    int
	Create int64
	// Done is closed when the server shuts down.
	Done <-chan struct{}

	conn net.Conn
	in   *bufio.Reader
}

// NewServer starts a server that is closed at the end of the test.
func NewServer(t testing.TB, script Script) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{
		URL: "http://" + listener.Addr().String(), script: script, listener: listener,
		done: make(chan struct{}), conns: map[net.Conn]bool{},
	}
	s.wg.Go(s.accept)
	t.Cleanup(s.close)
	return s
}

// Creates is the number of POSTs and PUTs whose body arrived whole.
func (s *Server) Creates() int { return int(s.creates.Load()) }

// Requests is the number of requests of any method.
func (s *Server) Requests() int { return int(s.requests.Load()) }

// Received is the number of bytes that arrived.
func (s *Server) Received() int64 { return s.received.Load() }

func (s *Server) close() {
	close(s.done)
	_ = s.listener.Close()
	s.mu.Lock()
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(conn) })
	}
}

func (s *Server) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	in := bufio.NewReader(&counted{Reader: conn, n: &s.received})
	for nth := 1; ; nth++ {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		s.requests.Add(1)
		x := &Exchange{Request: req, Body: body, Nth: nth, Done: s.done, conn: conn, in: in}
		if req.Method == http.MethodPost || req.Method == http.MethodPut {
			x.Create = s.creates.Add(1)
		}
		if !s.script(x) {
			return
		}
	}
}

type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Write sends raw bytes and tells whether the other side still takes them.
func (x *Exchange) Write(raw string) bool {
	_, err := io.WriteString(x.conn, raw)
	return err == nil
}

// Reply sends a whole answer with a Content-Length. Headers are "Name: value".
func (x *Exchange) Reply(status int, body string, headers ...string) bool {
	return x.Write(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n%s\r\n%s",
		status, http.StatusText(status), len(body), lines(headers), body))
}

// Reset closes the connection with a TCP reset instead of an orderly end.
func (x *Exchange) Reset() {
	if tcp, ok := x.conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = x.conn.Close()
}

// Gone waits until the other side has left or the server shuts down.
func (x *Exchange) Gone() { _, _ = x.in.ReadByte() }

func lines(headers []string) string {
	var b strings.Builder
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String()
}
