package balancer

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An event is with the caller before the next one exists.
func TestEventsAreNotHeldBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		received := make(chan struct{})
		one, two := pair(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1-0\ndata: {}\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-received:
				_, _ = io.WriteString(w, "event: end\ndata: {}\n\n")
			case <-r.Context().Done():
			case <-time.After(patience):
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
		first, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "id: 1-0\n", first)
		close(received)
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.Contains(t, string(rest), "event: end")
	})
}
