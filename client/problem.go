package client

import (
	"fmt"
	"time"
)

// Problem is a refusal of the server's (RFC 9457), or what somebody in between
// answered in its place. Ask for one by errors.As, or for its name by errors.Is
// with the errors below.
type Problem struct {
	// Name is the stable last part of Type, such as job-final. It is empty where
	// the answer did not come from a onejob server.
	Name   string `json:"-"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"` // what to do
	// Job is the id of the job it is about; Version that job's now.
	Job     string `json:"job,omitempty"`
	Version int64  `json:"version,omitempty"`
	// Attempt is the one in the way.
	Attempt *ProblemAttempt `json:"attempt,omitempty"`
	// Field is the part of the request that is wrong; Allowed what would have been
	// accepted there.
	Field    string    `json:"field,omitempty"`
	Allowed  []string  `json:"allowed,omitempty"`
	Position *Position `json:"position,omitempty"`
	// RequestID finds the request in the server's log.
	RequestID string `json:"request_id"`
	// RetryAfter is how long the server wants to be left alone; 0 if it did not say.
	RetryAfter time.Duration `json:"-"`
}

// ProblemAttempt is the attempt in the way of what was asked.
type ProblemAttempt struct {
	Number         int          `json:"number"`
	State          AttemptState `json:"state"`
	Reason         string       `json:"reason,omitempty"`
	Since          time.Time    `json:"since,omitzero"`
	ListeningUntil time.Time    `json:"listening_until,omitzero"`
}

// Position is where a body stopped being acceptable JSON.
type Position struct {
	Offset  int64  `json:"offset"` // bytes before it
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Pointer string `json:"pointer,omitempty"` // RFC 6901
}

func (p *Problem) Error() string {
	name := p.Name
	if name == "" {
		name = p.Title
	}
	return fmt.Sprintf("%d %s: %s", p.Status, name, p.Detail)
}

// Is makes errors.Is find a problem by its name.
func (p *Problem) Is(target error) bool {
	name, ok := target.(problemName)
	return ok && string(name) == p.Name
}

// problemName is an error that stands for all problems of a name.
type problemName string

func (n problemName) Error() string { return string(n) }

// Errors to tell problems apart with errors.Is. A server may know more: see
// Problem.Name.
const (
	ErrConflict     problemName = "idempotency-key-reused"  // the key belongs to another body; Problem.Job is its job
	ErrKeyExpired   problemName = "idempotency-key-expired" // its job ran, and its record is gone
	ErrKeyMissing   problemName = "idempotency-key-missing"
	ErrKeyInvalid   problemName = "idempotency-key-invalid"
	ErrInvalid      problemName = "request-invalid"
	ErrTooLarge     problemName = "request-too-large"
	ErrMediaType    problemName = "media-type-unsupported"
	ErrRouteUnknown problemName = "route-unknown"
	ErrUnauthorized problemName = "unauthorized"
	ErrForbidden    problemName = "forbidden"
	ErrNotFound     problemName = "not-found" // not there, expired, or another owner's
	ErrMethod       problemName = "method-not-allowed"
	ErrUnresolved   problemName = "attempt-unresolved" // Problem.Attempt is not settled
	ErrSettled      problemName = "attempt-settled"
	ErrNotUnknown   problemName = "attempt-not-unknown"
	ErrFinal        problemName = "job-final"
	ErrVersion      problemName = "version-mismatch" // a decision was made since
	ErrRateLimited  problemName = "rate-limited"
	ErrUnavailable  problemName = "store-unavailable"
	ErrRecordNewer  problemName = "record-newer" // a process of a newer version answers
	ErrInternal     problemName = "internal"
)
