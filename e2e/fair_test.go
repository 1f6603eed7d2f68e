package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// press is a provider that takes a moment for every page, and notes whose pages come
// in which order.
type press struct {
	*httptest.Server

	mu      sync.Mutex
	order   []string // owners
	creates map[string]int
}

func startPress(t *testing.T, took time.Duration) *press {
	t.Helper()
	p := &press{creates: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Attempt string
			Input   struct{ Owner string }
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		p.mu.Lock()
		p.order = append(p.order, body.Input.Owner)
		p.creates[body.Attempt]++
		p.mu.Unlock()
		<-time.After(took)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"sheets":1}`))
	}))
	t.Cleanup(p.Close)
	return p
}

// printed is the order of pages so far.
func (p *press) printed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.order...)
}

// TestFair_TenThousandOfOneOwnerBeforeOneOfAnother: an owner submits ten thousand jobs;
// another's one job starts after no more of his than wait on the queue and are under
// way, not after all of them, also when the sweeper has looked for all that wait. Not one
// is lost, none is created twice.
func TestFair_TenThousandOfOneOwnerBeforeOneOfAnother(t *testing.T) {
	t.Parallel()
	const many, concurrency = 10_000, 10
	press := startPress(t, 5*time.Millisecond)
	config := configFile(t, fmt.Sprintf(`
drain: 5s
redis: {url: %q}
providers: {press: {type: http, url: %q, timeout: 10s, deadline: 20s, concurrency: %d}}
routes: {print: {providers: [press]}}
`, redisServer(t), press.URL, concurrency))
	apiAddr, workerAddr := freeAddr(t), freeAddr(t)
	onejob(t, "api", "--config", config, "--addr", apiAddr).ready(apiAddr)
	acme := direct(t, apiAddr)
	acme.http = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	t.Cleanup(acme.http.CloseIdleConnections)

	const body = `{"route":"print","input":{"owner":%q}}`
	numbers := make(chan int)
	var submitting sync.WaitGroup
	for range 16 {
		submitting.Go(func() {
			for i := range numbers {
				a, err := acme.call(http.MethodPost, "/v1/jobs", fmt.Sprintf(body, "acme"), "Idempotency-Key", fmt.Sprint("k", i))
				assert.NoError(t, err)
				assert.Equal(t, http.StatusAccepted, a.status, a.body)
			}
		})
	}
	for i := range many {
		numbers <- i
	}
	close(numbers)
	submitting.Wait()
	require.False(t, t.Failed())

	worker := onejob(t, "worker", "--config", config, "--addr", workerAddr)
	worker.ready(workerAddr)
	// The sweeper has looked for what nobody had claimed in the first 5 s.
	require.Eventually(t, func() bool { return len(press.printed()) > 500 }, time.Minute, 10*time.Millisecond)
	small := acme.as("other-key")
	began, before := time.Now(), len(press.printed())
	id := small.submit("one", fmt.Sprintf(body, "small")).job.ID
	var waited time.Duration
	require.Eventually(t, func() bool {
		waited = time.Since(began)
		return small.get(id).State != jobs.Queued
	}, time.Minute, 2*time.Millisecond)
	passed := len(press.printed()) - before
	t.Logf("the other owner's job waited %v; %d pages were printed meanwhile, %d were waiting", waited.Round(time.Millisecond), passed, many-before)
	// Besides the window (concurrency) and what is under way: a filling on its way, and
	// what is printed while the submission itself and our looks travel.
	require.Less(t, passed, 30*concurrency)

	require.Eventually(t, func() bool { return len(press.printed()) >= many+1 }, 2*time.Minute, 50*time.Millisecond)
	for i, owner := range press.printed() {
		if owner == "small" {
			require.Less(t, i, before+30*concurrency)
		}
	}
	operator := acme.as("dev-operator-key")
	for _, state := range []jobs.State{jobs.Queued, jobs.Running, jobs.Unknown, jobs.Failed} {
		require.Eventually(t, func() bool {
			return len(jobsIn(t, operator, state)) == 0
		}, patience, 50*time.Millisecond, "jobs that are %s", state)
	}
	require.Len(t, press.creates, many+1)
	for attempt, n := range press.creates {
		require.Equal(t, 1, n, attempt)
	}
	worker.terminate()
	require.Zero(t, worker.end())
}

// jobsIn lists jobs in a state, at most one.
func jobsIn(t *testing.T, c *caller, state jobs.State) []jobs.Job {
	t.Helper()
	a := c.must(http.MethodGet, "/v1/jobs?limit=1&state="+string(state), "")
	var page struct{ Data []jobs.Job }
	require.NoError(t, json.Unmarshal([]byte(a.body), &page))
	return page.Data
}
