package chaos_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"onejob/jobs"
)

// told is what an answer said of a job: what the checker compares, and no more, for a
// run keeps hundreds of thousands of them.
type told struct {
	ID          string        `json:"id"`
	Key         string        `json:"key,omitempty"`
	Input       string        `json:"input,omitempty"` // as it was sent
	State       jobs.State    `json:"state"`
	Version     int64         `json:"version"`
	Revision    int64         `json:"revision"` // second part of the ETag
	CompletedBy int           `json:"completed_by,omitempty"`
	Result      string        `json:"result,omitempty"`
	Attempts    []toldAttempt `json:"attempts"`
}

type toldAttempt struct {
	Number int
	State  jobs.AttemptState
	Fence  int64
}

// toldOf reads an answer: the body, and the ETag, whose version must be the body's.
func toldOf(job *jobs.Job, etag string) (told, error) {
	t := told{
		ID: job.ID, Key: job.IdempotencyKey, Input: string(job.Input), State: job.State, Version: job.Version,
		CompletedBy: job.CompletedBy, Result: string(job.Result),
	}
	for _, a := range job.Attempts {
		t.Attempts = append(t.Attempts, toldAttempt{a.Number, a.State, a.Fence})
	}
	var version int64
	if _, err := fmt.Sscanf(etag, `"v%d.%d"`, &version, &t.Revision); err != nil {
		return t, fmt.Errorf("the ETag %q of job %s: %w", etag, job.ID, err)
	}
	if version != t.Version {
		return t, fmt.Errorf("the ETag %s is not of version %d of job %s", etag, t.Version, job.ID)
	}
	return t, nil
}

// problem is what a refusal said (RFC 9457): the end of its type, and the job it names.
type problem struct {
	Name    string `json:"name,omitempty"`
	Job     string `json:"job,omitempty"`
	Version int64  `json:"version,omitempty"`
}

// hear reads an answer into the call. What cannot be read is no answer.
func (c *call) hear(resp *http.Response, raw []byte) error {
	if resp.StatusCode >= http.StatusBadRequest {
		var p struct {
			Type    string `json:"type"`
			Job     string `json:"job"`
			Version int64  `json:"version"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("reading the refusal %d: %w", resp.StatusCode, err)
		}
		c.Problem = problem{Name: path.Base(p.Type), Job: p.Job, Version: p.Version}
		c.Status = resp.StatusCode
		return nil
	}
	var job jobs.Job
	if err := json.Unmarshal(raw, &job); err != nil {
		return fmt.Errorf("reading a job: %w", err)
	}
	var err error
	if c.Job, err = toldOf(&job, resp.Header.Get("Etag")); err != nil {
		c.Broken = err.Error()
	}
	c.Replayed = resp.Header.Get("Idempotent-Replayed") == "true"
	c.Status = resp.StatusCode
	return nil
}

// ok: the call was done, and the answer is the job.
func (c *call) ok() bool { return c.Status >= 200 && c.Status < 300 }

// answered: somebody said yes or no. After silence, or a 5xx, nobody knows whether the
// call took effect, or still will.
func (c *call) answered() bool { return c.Status >= 200 && c.Status < 500 }

// attempt is the number in the path of a decision about an attempt; 0: there is none.
func (c *call) attempt() int {
	_, rest, _ := strings.Cut(c.Path, "/attempts/")
	number, _, _ := strings.Cut(rest, "/")
	n, _ := strconv.Atoi(number)
	return n
}

// decision is the body of a call that decides about an attempt.
func (c *call) decision() (outcome, result string) {
	var body struct {
		Outcome string          `json:"outcome"`
		Result  json.RawMessage `json:"result"`
	}
	_ = json.Unmarshal([]byte(c.Body), &body)
	return body.Outcome, string(body.Result)
}
