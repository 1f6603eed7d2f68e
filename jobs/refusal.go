package jobs

import (
	"errors"
	"fmt"
)

// Code names why a script refused. The words are those of lua/answers.go.
type Code string

// Refusals a caller can meet.
const (
	CodeNotFound        Code = "not_found"        // no such job, or its record expired
	CodeNoAttempt       Code = "no_attempt"       // the job has no attempt with that number
	CodeConflict        Code = "conflict"         // the key is held by another payload
	CodeExpired         Code = "expired"          // the key is known, the job's record has expired
	CodeVersion         Code = "version_mismatch" // the job moved on since the version the caller expected
	CodeJobFinal        Code = "job_final"        // the job has ended and cannot be changed that way
	CodeAttemptOpen     Code = "attempt_open"     // another attempt is not settled yet
	CodeAttemptTerminal Code = "attempt_terminal" // the attempt has ended already
	CodeNotUnknown      Code = "not_unknown"      // only an unknown attempt can be resolved that way
	CodeExpiring        Code = "expiring"         // the record is about to expire
	CodeNoWebhook       Code = "no_webhook"       // the job has no delivery with that number
)

// Refusal is the answer of a script that changed nothing. It is an error that
// carries what a caller needs to decide what to do next.
type Refusal struct {
	Code    Code
	JobID   string
	State   State // of the job
	Version int64 // of the job
	// Attempt, AttemptState, AttemptReason and Since tell of the attempt in the
	// way, for CodeAttemptOpen, CodeAttemptTerminal and CodeNotUnknown.
	Attempt       int
	AttemptState  AttemptState
	AttemptReason string
	Since         Time
	// ListeningUntil is until when a late answer can still settle Attempt.
	ListeningUntil Time
}

func (r *Refusal) Error() string {
	if r.Attempt > 0 {
		return fmt.Sprintf("job %s, attempt %d: %s", r.JobID, r.Attempt, r.Code)
	}
	return fmt.Sprintf("job %s: %s", r.JobID, r.Code)
}

// refused tells whether err is a Refusal with that code.
func refused(err error, code Code) bool { return errors.Is(err, &Refusal{Code: code}) }

// Is makes errors.Is(err, &Refusal{Code: c}) match by code.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}
