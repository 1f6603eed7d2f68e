package tracing_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

// press is a provider whose answers the test gives. What it is asked for, and in
// which trace, comes out of calls.
type press struct {
	*httptest.Server
	calls  chan received
	closed chan struct{}
}

// received is a create that waits for its answer.
type received struct {
	attempt     string
	traceparent string
	answer      chan int // the status
}

func startPress(t *testing.T) *press {
	t.Helper()
	p := &press{calls: make(chan received, 10), closed: make(chan struct{})}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // a look-up
			_, _ = fmt.Fprint(w, `{"status":"succeeded","result":{"sheets":2}}`)
			return
		}
		call := received{r.Header.Get("X-Onejob-Attempt"), strings.Join(r.Header.Values("Traceparent"), ","), make(chan int, 1)}
		p.calls <- call
		select {
		case status := <-call.answer:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, `{"sheets":1,"error":"the answer is confidential"}`)
		case <-r.Context().Done():
		case <-p.closed:
		}
	}))
	t.Cleanup(func() {
		close(p.closed)
		p.Close()
	})
	return p
}

// next waits for the next create and answers it; 0 leaves it without an answer.
func (p *press) next(t *testing.T, status int) received {
	t.Helper()
	select {
	case call := <-p.calls:
		if status != 0 {
			call.answer <- status
		}
		return call
	case <-time.After(patience):
		require.FailNow(t, "no create arrived")
		return received{}
	}
}
