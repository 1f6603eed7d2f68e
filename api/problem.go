package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"onejob/jobs"
)

// problemMediaJSON is the media type of every error (RFC 9457 §3).
const problemMediaJSON = "application/problem+json"

// Problem is one occurrence of a problem, as handlers return it and as clients
// see it. Members a problem has no use for are left out.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// Job is the id of the job it is about.
	Job string `json:"job,omitempty"`
	// Version is that job's version now, for a version-mismatch.
	Version int64 `json:"version,omitempty"`
	// Attempt is the attempt in the way.
	Attempt *ProblemAttempt `json:"attempt,omitempty"`
	// Field names the part of the request that is wrong: a field of the body, a
	// query parameter or a header.
	Field string `json:"field,omitempty"`
	// Allowed lists what would have been accepted in its place.
	Allowed []string `json:"allowed,omitempty"`
	// Position is where the body stopped being acceptable JSON.
	Position *Position `json:"position,omitempty"`
	// RequestID finds this request in the server's log.
	RequestID string `json:"request_id,omitempty"`

	kind       *problemType
	retryAfter time.Duration
	cause      error // for the log only; may hold what no client may see
}

// ProblemAttempt says which attempt is in the way, and why.
type ProblemAttempt struct {
	Number         int               `json:"number"`
	State          jobs.AttemptState `json:"state"`
	Reason         string            `json:"reason,omitempty"`
	Since          jobs.Time         `json:"since,omitzero"`
	ListeningUntil jobs.Time         `json:"listening_until,omitzero"`
}

// NewProblem returns an occurrence of the problem of that name, for doors of
// another shape. A name that is not in the table makes it internal.
func NewProblem(name, detail string, args ...any) *Problem {
	kind := problemNamed(name)
	if kind == nil {
		kind = &problemInternal
	}
	return newProblem(kind, detail, args...)
}

// Name is what clients know the problem by; it ends the problem's type URL.
func (p *Problem) Name() string { return p.kind.Name }

// newProblem returns an occurrence of kind with a detail of its own.
func newProblem(kind *problemType, detail string, args ...any) *Problem {
	return &Problem{kind: kind, Detail: fmt.Sprintf(detail, args...)}
}

func (p *Problem) Error() string {
	if p.cause != nil {
		return fmt.Sprintf("%s: %s: %v", p.kind.Name, p.Detail, p.cause)
	}
	return p.kind.Name + ": " + p.Detail
}

func (p *Problem) Unwrap() error { return p.cause }

// at names the part of the request that is wrong and what is allowed there.
func (p *Problem) at(field string, allowed ...string) *Problem {
	p.Field, p.Allowed = field, allowed
	return p
}

func (p *Problem) hint(hint string, args ...any) *Problem {
	p.Hint = fmt.Sprintf(hint, args...)
	return p
}

func (p *Problem) because(err error) *Problem {
	p.cause = err
	return p
}

// prepare fills in what all occurrences have, and sets the headers that go with
// the problem in any shape; base is what its type URL begins with.
func (p *Problem) prepare(h http.Header, base, requestID string) {
	p.Type = base + "/problems/" + p.kind.Name
	p.Title, p.Status, p.RequestID = p.kind.Title, p.kind.Status, requestID
	if p.Hint == "" {
		p.Hint = p.kind.Hint
	}
	h.Set("Cache-Control", "no-store")
	if p.kind.Final {
		h.Set("X-Should-Retry", "false")
	}
	if p.retryAfter > 0 {
		h.Set("Retry-After", seconds(p.retryAfter))
	}
}

// write answers with the problem, once prepared.
func (p *Problem) write(w http.ResponseWriter) error {
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode problem %s: %w", p.kind.Name, err)
	}
	w.Header().Set("Content-Type", problemMediaJSON)
	w.WriteHeader(p.kind.Status)
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("write problem %s: %w", p.kind.Name, err)
	}
	return nil
}

// seconds is d as Retry-After has it: whole seconds, never less than asked for.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
