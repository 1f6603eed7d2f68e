package balancer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	keys   = 200 // double clicks at once
	clicks = 2   // of each
	// held is how many creates the provider has in its hands when the crash comes.
	held = 10
)

// 200 double clicks at once, an API process killed in the middle and started
// again: every caller who just sends again gets his job, there is one job for
// each key, and the provider is asked once for each (I1, I2, I7).
func TestDoubleClicksWhileAnAPIDies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		s := openShop(t)
		url := b.start(t, s.addrs[0], s.addrs[1])
		began := time.Now()
		c := clickAll(t, url)
		eventually(t, "the provider is asked", func(context.Context) bool { return len(s.provider.written()) >= held })
		s.crash(t)
		close(s.provider.gate)
		c.wait(t)
		t.Logf("%d double clicks answered within %v, %d requests sent again", keys, time.Since(began), c.failed.Load())

		require.Positive(t, c.failed.Load(), "the crash was not felt: nothing is shown")
		ids := c.oneJobPerKey(t)
		require.Len(t, jobsAt(t, url), keys, "jobs nobody asked for, or lost ones")
		require.Len(t, s.provider.written(), keys)
		for id := range ids {
			job := endedJob(t, url, id)
			require.Equal(t, "succeeded", job.State, id)
			require.Len(t, job.Attempts, 1, id)
			require.Equal(t, 1, s.provider.written()[job.Attempts[0].ID], "creates of the attempt of %s", id)
		}

		response, body := send(t, http.MethodPost, url+"/v1/jobs", strings.Repeat("x", 1_100_000), "Idempotency-Key", "large")
		require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
		require.Contains(t, body, "/problems/request-too-large", "the API's own answer, not the balancer's")
	})
}

// clicking is all the callers at once.
type clicking struct {
	url      string
	client   *http.Client
	clickers sync.WaitGroup
	failed   atomic.Int64 // requests that had to be sent again

	mu   sync.Mutex
	ids  map[string][]string // job ids by key
	errs []error
}

func clickAll(t *testing.T, url string) *clicking {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: keys}
	t.Cleanup(transport.CloseIdleConnections)
	c := &clicking{url: url, client: &http.Client{Transport: transport}, ids: map[string][]string{}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	for i := range keys * clicks {
		c.clickers.Go(func() {
			key := fmt.Sprintf("click-%d", i/clicks)
			id, err := c.click(ctx, key)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ids[key] = append(c.ids[key], id)
			if err != nil {
				c.errs = append(c.errs, fmt.Errorf("%s: %w", key, err))
			}
		})
	}
	return c
}

// click sends one request until it is answered with a job, as a caller should:
// always with the same key.
func (c *clicking) click(ctx context.Context, key string) (string, error) {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		id, err := c.post(ctx, key)
		if err == nil {
			return id, nil
		}
		c.failed.Add(1)
		select {
		case <-ctx.Done():
			return "", err
		case <-again.C:
		}
	}
}

// post asks to be answered when the job has ended, so that a crash meets
// requests that were sent and not answered.
func (c *clicking) post(ctx context.Context, key string) (string, error) {
	body := fmt.Sprintf(`{"route":"print","input":{"page":%q}}`, key)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/jobs", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer dev-key")
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("X-Request-Id", key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", "wait=20")
	request.GetBody = nil // net/http would send again by itself, unseen
	response, err := c.client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusAccepted {
		return "", fmt.Errorf("%s: %s", response.Status, text)
	}
	if got := response.Header.Get("X-Request-Id"); got != key {
		return "", fmt.Errorf("sent with request id %s, answered with %s", key, got)
	}
	var job job
	err = json.Unmarshal(text, &job)
	return job.ID, err
}

func (c *clicking) wait(t *testing.T) {
	t.Helper()
	c.clickers.Wait() // each of them gives up in time
	require.Empty(t, c.errs, "callers without an answer")
}

// oneJobPerKey gives the ids of all jobs, one for each key.
func (c *clicking) oneJobPerKey(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for key, ids := range c.ids {
		require.Len(t, ids, clicks, key)
		for _, id := range ids {
			require.Equal(t, ids[0], id, "two jobs for %s", key)
		}
		all[ids[0]] = true
	}
	require.Len(t, all, keys)
	return all
}
