package api_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/api"
)

// meter is the limits of the tests: so many requests are left, so many jobs may be open.
type meter struct {
	mu             sync.Mutex
	requests, jobs int
	open           int
	counts         bool // requests, too
}

func (m *meter) Request(context.Context, string) (time.Duration, int, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.counts {
		return 0, 0, 0
	}
	if m.requests == 0 {
		return 1200 * time.Millisecond, 10, 25
	}
	m.requests--
	return 0, 10, 25
}

func (m *meter) Job(context.Context, string) (int, int, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open >= m.jobs {
		return m.open, m.jobs, false
	}
	m.open++
	return m.open, m.jobs, true
}

func (m *meter) Unused(string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
}

func limited(m *meter) func(*api.Config) { return func(c *api.Config) { c.Limits = m } }

// TestLimits_Requests: every call of an owner counts, a replay, too; who has made too
// many is told when there is one again, and an operator never has.
func TestLimits_Requests(t *testing.T) {
	t.Parallel()
	m := &meter{requests: 3, jobs: 100, counts: true}
	b := setup(t, limited(m))
	job := b.made("k1")
	b.made("k1")
	b.get(devKey, "/v1/jobs/"+job.ID).is(http.StatusOK)
	for name, answer := range map[string]*reply{
		"a new one": b.submit("k2", printBody),
		"a replay":  b.submit("k1", printBody),
		"a look":    b.get(devKey, "/v1/jobs/"+job.ID),
		"a list":    b.get(devKey, "/v1/jobs"),
		"a viewer":  b.get(viewerKey, "/v1/jobs"),
		"no right":  b.post(devKey, "/v1/jobs/"+job.ID+"/attempts/1/resolve", `{"outcome":"failed","reason":"x"}`),
	} {
		p := answer.problem(http.StatusTooManyRequests, "rate-limited")
		require.Contains(t, p.Detail, "10 requests a second", name)
		require.Equal(t, "2", answer.header.Get("Retry-After"), name)
		require.Equal(t, `"requests";q=25;w=3`, answer.header.Get("RateLimit-Policy"), name)
		require.Equal(t, `"requests";r=0;t=2`, answer.header.Get("RateLimit"), name)
		require.Empty(t, answer.header.Get("X-Should-Retry"), name)
	}
	b.get(operatorKey, "/v1/jobs/"+job.ID).is(http.StatusOK)
	b.post(operatorKey, "/v1/jobs", printBody, "Idempotency-Key", "k2").is(http.StatusAccepted)
	b.get(viewerKey, "/metrics").is(http.StatusOK)
	b.get("", "/healthz").is(http.StatusOK)
}

// TestLimits_OpenJobs: one too many is refused and nothing written; what is there
// already is answered as ever, also another intent under its key and one whose record
// has gone.
func TestLimits_OpenJobs(t *testing.T) {
	t.Parallel()
	m := &meter{jobs: 2}
	b := setup(t, limited(m))
	gone := b.made("gone")
	first := b.made("k1")
	require.Equal(t, 2, m.open)

	refused := b.submit("k3", printBody)
	p := refused.problem(http.StatusTooManyRequests, "rate-limited")
	require.Contains(t, p.Detail, "has 2 jobs that have not ended, and may have 2")
	require.Contains(t, p.Hint, "same key")
	require.Equal(t, "1", refused.header.Get("Retry-After"))
	held, err := b.store.KeyHeld(t.Context(), "dev", "k3")
	require.NoError(t, err)
	require.False(t, held, "a refused key is free")

	again := b.submit("k1", printBody).is(http.StatusAccepted)
	require.Equal(t, first.ID, again.job().ID)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	b.submit("k1", `{"route":"print","input":{}}`).problem(http.StatusConflict, "idempotency-key-reused")
	for _, key := range b.redis.Keys() {
		if len(key) > len(gone.ID) && key[len(key)-len(gone.ID):] == gone.ID {
			b.redis.Del(key)
		}
	}
	b.submit("gone", printBody).problem(http.StatusGone, "idempotency-key-expired")
	b.post(operatorKey, "/v1/jobs", printBody, "Idempotency-Key", "k3").is(http.StatusAccepted)
	require.Equal(t, 2, m.open)
}

// TestLimits_PlacesNotUsed: a replay and a conflict give their place back.
func TestLimits_PlacesNotUsed(t *testing.T) {
	t.Parallel()
	m := &meter{jobs: 100}
	b := setup(t, limited(m))
	for i := range 5 {
		b.made(fmt.Sprint("k", i%2))
	}
	b.submit("k1", `{"route":"print","input":{}}`).problem(http.StatusConflict, "idempotency-key-reused")
	require.Equal(t, 2, m.open)
}
