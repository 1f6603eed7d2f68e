package tracing_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

// press is a provider that answers as it is told. What it was asked for, and in which
// trace, comes out of calls.
type press struct {
	*httptest.Server
	calls  chan received
	closed chan struct{}
}

// received is a create that came.
type received struct{ attempt, traceparent string }

// silent is no answer, ever.
const silent = 0

// inOrder answers the first create with the first status, and so on.
func inOrder(statuses ...int) func(received) int {
	var came atomic.Int64
	return func(received) int { return statuses[came.Add(1)-1] }
}

// startPress starts a provider; answer gives the status of each create.
func startPress(t *testing.T, answer func(received) int) *press {
	t.Helper()
	p := &press{calls: make(chan received, 10), closed: make(chan struct{})}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // a look-up
			_, _ = fmt.Fprint(w, `{"status":"succeeded","result":{"sheets":2}}`)
			return
		}
		call := received{r.Header.Get("X-Onejob-Attempt"), strings.Join(r.Header.Values("Traceparent"), ",")}
		p.calls <- call
		status := answer(call)
		if status == silent {
			select {
			case <-r.Context().Done():
			case <-p.closed:
			}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, `{"sheets":1,"error":"the answer is confidential"}`)
	}))
	t.Cleanup(func() {
		close(p.closed)
		p.Close()
	})
	return p
}

// next waits for the next create.
func (p *press) next(t *testing.T) received {
	t.Helper()
	select {
	case call := <-p.calls:
		return call
	case <-time.After(patience):
		require.FailNow(t, "no create arrived")
		return received{}
	}
}
