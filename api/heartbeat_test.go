package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/auth"
	"onejob/jobs"
)

// still is a store of one job that nothing happens to, and of no signals.
type still struct{ Store }

func (still) Get(context.Context, string) (*jobs.Job, error) {
	return &jobs.Job{ID: "job_1", Owner: "dev", State: jobs.Running, Version: 1}, nil
}

func (still) Events(context.Context, string, string, int) ([]jobs.Event, error) { return nil, nil }

func (still) Watch(string) (<-chan struct{}, func(), error) {
	return make(chan struct{}), func() {}, nil
}

type anyone struct{}

func (anyone) Authenticate(context.Context, string) (auth.Identity, error) {
	return auth.Identity{Owner: "dev", Role: auth.Submit}, nil
}

// ask makes a request that the caller gives up after a while.
func ask(t *testing.T, patience time.Duration, headers ...string) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	path := "/v1/jobs/job_1"
	if headers[0] == "Accept" {
		path += "/events"
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer k")
	r.Header.Set(headers[0], headers[1])
	w := httptest.NewRecorder()
	New(Config{}, still{}, nil, anyone{}).ServeHTTP(w, r)
	return w
}

func TestSilentStreamSendsHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := ask(t, time.Minute, "Accept", "text/event-stream")
		require.Equal(t, 3, strings.Count(w.Body.String(), ": still here\n\n"), w.Body.String())
	})
}

func TestWaitIsNeverLongerThanAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, wait := range []string{"wait", "wait=60", "wait=3600"} {
			began := time.Now()
			w := ask(t, time.Hour, "Prefer", wait)
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, time.Minute, time.Since(began), wait)
			require.Equal(t, "wait=60", w.Header().Get("Preference-Applied"))
		}
	})
}

func TestCallerWhoLeavesEndsHisWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ask(t, 5*time.Second, "Prefer", "wait=60")
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

// changing is a store whose one job ends after half a second, with a signal.
type changing struct {
	still
	began time.Time
}

func (s changing) Get(ctx context.Context, id string) (*jobs.Job, error) {
	job, err := s.still.Get(ctx, id)
	if time.Since(s.began) >= 500*time.Millisecond {
		job.State = jobs.Succeeded
	}
	return job, err
}

func (changing) Watch(string) (<-chan struct{}, func(), error) {
	changes := make(chan struct{}, 1)
	signal := time.AfterFunc(500*time.Millisecond, func() { changes <- struct{}{} })
	return changes, func() { signal.Stop() }, nil
}

func TestWaitEndsAtTheSignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/jobs/job_1", nil)
		r.Header.Set("Authorization", "Bearer k")
		r.Header.Set("Prefer", "wait=60")
		w := httptest.NewRecorder()
		New(Config{}, changing{began: began}, nil, anyone{}).ServeHTTP(w, r)
		require.Contains(t, w.Body.String(), "succeeded")
		require.Equal(t, 500*time.Millisecond, time.Since(began))
	})
}

// taking is a store that takes every job and does nothing with it.
type taking struct{ still }

func (s taking) Submit(ctx context.Context, _ jobs.Submission) (jobs.Submitted, error) {
	job, err := s.Get(ctx, "job_1")
	return jobs.Submitted{Job: job, Created: true}, err
}

// counted is a store that tells when a watch ends.
type counted struct {
	still
	ended chan time.Time
}

func (s counted) Watch(string) (<-chan struct{}, func(), error) {
	return nil, func() { s.ended <- time.Now() }, nil
}
