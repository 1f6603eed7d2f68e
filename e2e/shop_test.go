package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shop is a provider of type http whose every answer is in the hands of the
// test. It counts creates by attempt id, whatever becomes of them.
type shop struct {
	t      *testing.T
	server *httptest.Server
	orders chan *order
	closed chan struct{}

	mu      sync.Mutex
	creates map[string]int
}

// order is a create that waits for its answer.
type order struct {
	attempt string
	printer string
	input   json.RawMessage
	reply   chan reply
}

type reply struct {
	status int
	body   string
}

func openShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{t: t, orders: make(chan *order, 100), closed: make(chan struct{}), creates: map[string]int{}}
	s.server = httptest.NewServer(http.HandlerFunc(s.print))
	t.Cleanup(func() {
		close(s.closed)
		s.server.Close()
	})
	return s
}

func (s *shop) print(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Attempt string          `json:"attempt"`
		Input   json.RawMessage `json:"input"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	s.creates[body.Attempt]++
	s.mu.Unlock()
	o := &order{attempt: body.Attempt, printer: strings.TrimPrefix(r.URL.Path, "/"), input: body.Input, reply: make(chan reply, 1)}
	select {
	case s.orders <- o:
	case <-s.closed:
		return
	}
	select {
	case answer := <-o.reply:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.status)
		_, _ = w.Write([]byte(answer.body))
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// next waits for the next create to arrive.
func (s *shop) next() *order {
	s.t.Helper()
	select {
	case o := <-s.orders:
		return o
	case <-time.After(patience):
		require.FailNow(s.t, "no create arrived")
		return nil
	}
}

// none tells that no further create has arrived.
func (s *shop) none() {
	s.t.Helper()
	select {
	case o := <-s.orders:
		require.FailNow(s.t, "a create too many", o.attempt)
	default:
	}
}

// created is how often each attempt was created.
func (s *shop) created() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]int, len(s.creates))
	maps.Copy(all, s.creates)
	return all
}

func (o *order) answer(status int, body string) { o.reply <- reply{status, body} }

// patience bounds every wait of these tests.
const patience = 20 * time.Second
