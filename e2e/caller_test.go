package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// caller speaks to one process over HTTP, with one key.
type caller struct {
	t    *testing.T
	ctx  context.Context
	http *http.Client
	base string
	key  string
}

func (f *floor) caller(addr string) *caller {
	return &caller{t: f.t, ctx: f.ctx, http: f.http, base: "http://" + addr, key: "dev-key"}
}

func (c *caller) as(key string) *caller {
	other := *c
	other.key = key
	return &other
}

// answer is what came back: a job, or a problem.
type answer struct {
	status int
	header http.Header
	body   string
	job    jobs.Job
	problem
}

type problem struct {
	Type    string `json:"type"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint"`
	Job     string `json:"job"`
	Attempt *struct {
		Number         int       `json:"number"`
		State          string    `json:"state"`
		Reason         string    `json:"reason"`
		Since          jobs.Time `json:"since"`
		ListeningUntil jobs.Time `json:"listening_until"`
	} `json:"attempt"`
}

// name is the last part of the problem's type.
func (p problem) name() string { return p.Type[strings.LastIndex(p.Type, "/")+1:] }

func (c *caller) call(method, path, body string, headers ...string) (answer, error) {
	request, err := http.NewRequestWithContext(c.ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode, header: response.Header, body: string(text)}
	if strings.Contains(response.Header.Get("Content-Type"), "json") {
		var into any = &a.job
		if a.status >= http.StatusBadRequest {
			into = &a.problem
		}
		err = json.Unmarshal(text, into)
	}
	return a, err
}

func (c *caller) must(method, path, body string, headers ...string) answer {
	c.t.Helper()
	a, err := c.call(method, path, body, headers...)
	require.NoError(c.t, err)
	return a
}

func (c *caller) submit(key, body string) answer {
	c.t.Helper()
	return c.must(http.MethodPost, "/v1/jobs", body, "Idempotency-Key", key)
}

func (c *caller) get(id string) jobs.Job {
	c.t.Helper()
	a := c.must(http.MethodGet, "/v1/jobs/"+id, "")
	require.Equal(c.t, http.StatusOK, a.status, a.body)
	return a.job
}

// until reads the job until it is as wanted.
func (c *caller) until(id, what string, wanted func(jobs.Job) bool) jobs.Job {
	c.t.Helper()
	var job jobs.Job
	require.Eventually(c.t, func() bool {
		a, err := c.call(http.MethodGet, "/v1/jobs/"+id, "")
		if err != nil || a.status != http.StatusOK {
			return false
		}
		job = a.job
		return wanted(job)
	}, patience, 10*time.Millisecond, "job %s never was %s", id, what)
	return job
}

func (c *caller) untilState(id string, state jobs.State) jobs.Job {
	c.t.Helper()
	return c.until(id, string(state), func(j jobs.Job) bool { return j.State == state })
}

const page1, page2 = `{"route":"print","input":{"page":1}}`, `{"route":"print","input":{"page":2}}`
