package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// State is the state of a job. A server may send one that is not listed here.
type State string

// States of a job.
const (
	Queued    State = "queued"
	Running   State = "running"
	Unknown   State = "unknown" // a call may have left, and nobody knows how it ended
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended tells whether the job is over: succeeded, failed or cancelled. A failed job
// may be opened again by Retry.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// Job is the durable record of one intent.
type Job struct {
	ID             string `json:"id"`
	Owner          string `json:"owner"`
	Route          string `json:"route"`
	Provider       string `json:"provider"` // of the latest attempt
	IdempotencyKey string `json:"idempotency_key"`
	State          State  `json:"state"`
	// Version rises with every decision that shuts out what still runs. A Decision
	// can be bound to it.
	Version    int64             `json:"version"`
	Input      json.RawMessage   `json:"input"` // as it was submitted
	Params     json.RawMessage   `json:"params,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	WebhookURL string            `json:"webhook_url,omitempty"`
	// Result is that of the winning attempt, there once the job has succeeded.
	Result      json.RawMessage `json:"result,omitempty"`
	CompletedBy int             `json:"completed_by,omitempty"` // number of the winning attempt
	Error       *Failure        `json:"error,omitempty"`        // why it failed
	BlockedBy   *Block          `json:"blocked_by,omitempty"`
	Next        *Next           `json:"next,omitempty"`
	Hold        string          `json:"hold,omitempty"` // why nothing starts although it could
	Attempts    []Attempt       `json:"attempts"`
	Webhooks    []Webhook       `json:"webhooks,omitempty"` // what its webhook was told
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	StartBy     time.Time       `json:"start_by,omitzero"`
	EndedAt     time.Time       `json:"ended_at,omitzero"`
	ExpiresAt   time.Time       `json:"expires_at,omitzero"` // its record is kept until then

	// Replayed is set by Submit: the key was known when the answer was made, be it
	// from an earlier call or from a try of this one whose answer was lost.
	Replayed bool `json:"-"`
}

// DecodeResult reads the result into v, as json.Unmarshal does.
func (j *Job) DecodeResult(v any) error {
	if j.State != Succeeded {
		return fmt.Errorf("client: job %s is %s and has no result", j.ID, j.State)
	}
	if err := json.Unmarshal(j.Result, v); err != nil {
		return fmt.Errorf("client: reading the result of job %s: %w", j.ID, err)
	}
	return nil
}

// Err is a *JobError if the job ended without a result, else nil.
func (j *Job) Err() error {
	if j.State.Ended() && j.State != Succeeded {
		return &JobError{j}
	}
	return nil
}

// Failure says why a job failed.
type Failure struct {
	Code    string `json:"code"` // stable, to branch on
	Message string `json:"message"`
	Attempt int    `json:"attempt,omitempty"`
	Hint    string `json:"hint,omitempty"` // what can be done
}

// Block says what holds back the next attempt.
type Block struct {
	Attempt        int          `json:"attempt"`
	State          AttemptState `json:"state"`
	Reason         string       `json:"reason,omitempty"`
	Since          time.Time    `json:"since"`
	ListeningUntil time.Time    `json:"listening_until,omitzero"` // a late answer still settles it until then
	NextLookupAt   time.Time    `json:"next_lookup_at,omitzero"`
	// Actions are what may be done, the best first: "wait" as long as it can settle
	// by itself, and calls of the HTTP API.
	Actions []string `json:"actions"`
}

// Next says whether another attempt may be opened, and why (not).
type Next struct {
	Allowed bool   `json:"allowed"`
	Why     string `json:"why"`
	Call    string `json:"call,omitempty"` // what opens it, or may be done instead
}

// job reads a job out of an answer.
func (a answer) job() (*Job, error) {
	job := &Job{}
	if err := json.Unmarshal(a.body, job); err != nil {
		return nil, fmt.Errorf("client: reading a job: %w", err)
	}
	if job.ID == "" {
		return nil, errors.New("client: the answer is JSON, but no job: is this the address of a onejob server?")
	}
	return job, nil
}
