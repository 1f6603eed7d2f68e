package balancer

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// ledger is a provider that writes down every create it is asked for and answers
// none before its gate is opened.
type ledger struct {
	url  string
	gate chan struct{}

	mu      sync.Mutex
	creates map[string]int // by attempt id
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{gate: make(chan struct{}), creates: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(l.create))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

func (l *ledger) create(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	attempt := r.Header.Get("X-Onejob-Attempt")
	l.mu.Lock()
	l.creates[attempt]++
	l.mu.Unlock()
	select {
	case <-l.gate:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"sheet":%q}`, attempt)
}

// written is how often each attempt was asked for.
func (l *ledger) written() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.creates)
}
