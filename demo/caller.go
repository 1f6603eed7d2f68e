package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"onejob/jobs"
)

// caller speaks HTTP to the process, as any program would.
type caller struct {
	base string
	http *http.Client
}

// reply is an answer: a job, or a problem.
type reply struct {
	status   int
	replayed bool
	job      jobs.Job
	problem  struct {
		Type   string `json:"type"`
		Detail string `json:"detail"`
		Hint   string `json:"hint"`
	}
}

func newCaller(addr string) *caller {
	return &caller{base: "http://" + addr, http: &http.Client{Timeout: 20 * time.Second}}
}

// close lets go of the connections.
func (c *caller) close() { c.http.CloseIdleConnections() }

func (c *caller) submit(ctx context.Context, key string, input any, wait int) (reply, error) {
	headers := map[string]string{"Idempotency-Key": key}
	if wait > 0 {
		headers["Prefer"] = fmt.Sprintf("wait=%d", wait)
	}
	return c.call(ctx, http.MethodPost, "/v1/jobs", headers, map[string]any{"route": "print", "input": input})
}

func (c *caller) get(ctx context.Context, id string, wait int) (reply, error) {
	headers := map[string]string{}
	if wait > 0 {
		headers["Prefer"] = fmt.Sprintf("wait=%d", wait)
	}
	return c.call(ctx, http.MethodGet, "/v1/jobs/"+id, headers, nil)
}

func (c *caller) post(ctx context.Context, path string, body any) (reply, error) {
	return c.call(ctx, http.MethodPost, path, nil, body)
}

func (c *caller) call(ctx context.Context, method, path string, headers map[string]string, body any) (reply, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return reply{}, fmt.Errorf("%s %s: writing the body: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, &sent)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer dev-key")
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	r := reply{status: response.StatusCode, replayed: response.Header.Get("Idempotent-Replayed") == "true"}
	var into any = &r.job
	if response.StatusCode >= http.StatusBadRequest {
		into = &r.problem
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return r, fmt.Errorf("%s %s: reading the answer: %w", method, path, err)
	}
	return r, nil
}

// until looks at a job until it is as wanted, six seconds at most.
func (c *caller) until(ctx context.Context, id string, wanted func(jobs.Job) bool) (jobs.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := c.get(ctx, id, 0)
		if err != nil {
			return r.job, err
		}
		if wanted(r.job) {
			return r.job, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return r.job, fmt.Errorf("job %s did not get there; it is %s", id, r.job.State)
		}
	}
}
