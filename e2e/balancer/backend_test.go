package balancer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// backend stands for an API process: it says that it is ready, counts what
// reaches it, and answers as the test wants.
type backend struct {
	addr  string
	close func()

	mu   sync.Mutex
	seen []*http.Request
}

// pair starts two backends with the same answer.
func pair(t *testing.T, answer http.HandlerFunc) (*backend, *backend) {
	t.Helper()
	return newBackend(t, answer), newBackend(t, answer)
}

func newBackend(t *testing.T, answer http.HandlerFunc) *backend {
	t.Helper()
	b := &backend{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		b.mu.Lock()
		b.seen = append(b.seen, r)
		b.mu.Unlock()
		w.Header().Set("X-Test-Backend", b.addr)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	b.close = server.Close
	b.addr = server.Listener.Addr().String()
	return b
}

func (b *backend) requests() []*http.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*http.Request(nil), b.seen...)
}

// breakOff closes the connection without an answer.
func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// silent says nothing until the caller is gone.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
