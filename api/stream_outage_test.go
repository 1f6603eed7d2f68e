package api

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// away is a store of one job that ends while the store cannot be reached.
type away struct {
	still
	began time.Time
}

func (s away) Get(ctx context.Context, id string) (*jobs.Job, error) {
	job, err := s.still.Get(ctx, id)
	switch gone := time.Since(s.began); {
	case gone > time.Second && gone < time.Minute:
		return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
	case gone >= time.Minute:
		job.State = jobs.Succeeded
	}
	return job, err
}

func (s away) Events(_ context.Context, _, after string, _ int) ([]jobs.Event, error) {
	if time.Since(s.began) < time.Minute || after != "" {
		return nil, nil
	}
	return []jobs.Event{{ID: "7-0", Verb: "finalize"}}, nil
}

// TestStreamOutlastsTheStore: an EventSource that came back to a 503 would not come
// again, so the stream stays, is kept warm, and goes on where it was.
func TestStreamOutlastsTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/jobs/job_1/events", nil)
		r.Header.Set("Authorization", "Bearer k")
		r.Header.Set("Accept", "text/event-stream")
		w := httptest.NewRecorder()
		New(Config{}, away{began: time.Now()}, nil, anyone{}).ServeHTTP(w, r)
		require.Equal(t, 1, strings.Count(w.Body.String(), `"verb":"finalize"`), w.Body.String())
		require.Contains(t, w.Body.String(), ": still here\n\n")
		require.Contains(t, w.Body.String(), "event: end")
	})
}
