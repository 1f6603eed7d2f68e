package balancer

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An event is with the caller before the next one exists.
func TestEventsAreNotHeldBack(t *testing.T) {
	t.Parallel()
	const events = 3
	each(t, func(t *testing.T, b balancer) {
		received := make(chan struct{})
		one, two := pair(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range events {
				_, _ = fmt.Fprintf(w, "id: %d-0\n", i)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-received:
				case <-r.Context().Done():
					return
				case <-time.After(patience):
					return
				}
			}
		})
		url := b.start(t, one.addr, two.addr)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/jobs/job_01/events", nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "text/event-stream")
		response, err := once.RoundTrip(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		lines := bufio.NewReader(response.Body)
		for i := range events {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("id: %d-0\n", i), line)
			received <- struct{}{}
		}
	})
}
