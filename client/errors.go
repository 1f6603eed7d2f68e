package client

import (
	"fmt"
	"strings"
)

// UnknownError says that the server may have done what was asked: no answer came
// that tells. It wraps what came instead, and the context's error if that ended.
type UnknownError struct {
	// Call is what was asked for, such as submit.
	Call string
	// Key is that of a submit: submit the same again with it, and there is one job.
	// Empty for decisions: read the job before you repeat one.
	Key string
	Err error
}

func (e *UnknownError) Error() string {
	if e.Key != "" {
		return fmt.Sprintf("client: outcome of the submit unknown; submit again with key %s: %v", e.Key, e.Err)
	}
	return fmt.Sprintf("client: outcome of %s unknown; read the job before you repeat it: %v", e.Call, e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }

// UnreachableError says that no answer came, and that nothing was changed: there
// was no connection, or the call only reads. It wraps what came instead, and the
// context's error if that ended.
type UnreachableError struct {
	Call string
	Key  string // of a submit, for the next time
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("client: %s: no answer: %v", e.Call, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// JobError says that a job ended without a result.
type JobError struct{ Job *Job }

func (e *JobError) Error() string {
	text := fmt.Sprintf("client: job %s is %s", e.Job.ID, e.Job.State)
	if f := e.Job.Error; f != nil {
		text += ": " + f.Code
		if f.Message != "" {
			text += ": " + f.Message
		}
	}
	return text
}

// NotEndedError says that a wait ended before its job, which goes on: Wait for it
// again with its id. It wraps the context's error.
type NotEndedError struct {
	// JobID is the job waited for; Job is it as it was last seen, nil if it never was.
	JobID string
	Job   *Job
	Err   error
}

func (e *NotEndedError) Error() string {
	state := ""
	if e.Job != nil {
		state = " (" + strings.TrimSpace(string(e.Job.State)) + ")"
	}
	return fmt.Sprintf("client: job %s%s has not ended and goes on: %v", e.JobID, state, e.Err)
}

func (e *NotEndedError) Unwrap() error { return e.Err }

// waitedError is the end of a context during a pause, and what the pause was for.
type waitedError struct{ ended, last error }

func (e *waitedError) Error() string { return fmt.Sprintf("%v; before that: %v", e.ended, e.last) }

func (e *waitedError) Unwrap() []error { return []error{e.ended, e.last} }

// gaveUp is the error of a call after its last try.
func (k call) gaveUp(arrived bool, err error) error {
	switch _, answered := err.(*Problem); { //nolint:errorlint // a wrapped one is that of a try before
	case k.writes && arrived:
		return &UnknownError{Call: k.name, Key: k.key, Err: err}
	case answered:
		return fmt.Errorf("client: %s: %w", k.name, err)
	}
	return &UnreachableError{Call: k.name, Key: k.key, Err: err}
}
