package openai

import (
	"fmt"
	"net/http"
	"strings"

	"onejob/jobs"
)

// Values of x-should-retry.
const (
	again   = "true"  // the same request with the same key may have another answer
	noAgain = "false" // it has the same one until somebody decides otherwise
)

// failureOf is the answer for a job without a result, nil where it has one.
func (d *Door) failureOf(job *jobs.Job) *failure {
	switch {
	case job.State == jobs.Succeeded:
		return nil
	case job.State == jobs.Failed:
		return failed(job)
	case job.State == jobs.Cancelled:
		return &failure{status: http.StatusConflict, retry: noAgain, said: said{
			Code: "job_cancelled", Message: fmt.Sprintf("Job %s was cancelled. %s", job.ID, newKey),
		}}
	case settled(job):
		return unresolved(job)
	}
	select {
	case <-d.api.Stopping():
		return &failure{status: http.StatusServiceUnavailable, retry: again, after: "1", said: said{
			Code: "server_stopping", Message: fmt.Sprintf("Job %s is %s; this process stops. %s", job.ID, job.State, sameKey),
		}}
	default:
	}
	return &failure{status: http.StatusGatewayTimeout, retry: again, after: "1", said: said{
		Code: "job_not_ended", Message: fmt.Sprintf("Job %s is still %s after %s. %s", job.ID, job.State, d.config.Wait, sameKey),
	}}
}

const (
	sameKey = "Send the same request again with the same Idempotency-Key: it leads to this job, and nothing is done twice."
	newKey  = "The same Idempotency-Key leads to this job; send a new one to have the work done again."
)

// failed is a job that has definitely failed.
func failed(job *jobs.Job) *failure {
	e := job.Error
	if e == nil {
		e = &jobs.Error{Code: "failed", Message: "no reason was recorded"}
	}
	reason := e.Code
	if a := job.Attempt(e.Attempt); a != nil && a.Reason != "" {
		reason = a.Reason // the job's own code may only say why nobody else was asked
	}
	message := fmt.Sprintf("Job %s failed (%s): %s.", job.ID, e.Code, strings.TrimSuffix(e.Message, "."))
	if e.Hint != "" {
		message += " To go on: " + e.Hint + "."
	}
	return &failure{status: statusOf(reason), retry: noAgain, said: said{Code: e.Code, Message: message + " " + newKey}}
}

// statusOf is the status OpenAI gives such a failure: whose fault it is decides
// which class of error its clients raise.
func statusOf(reason string) int {
	switch reason {
	case "rate_limited":
		return http.StatusTooManyRequests
	case "busy", "overloaded", "circuit_open":
		return http.StatusServiceUnavailable
	case "rejected", "refused", "request_invalid":
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}

// unresolved is an unknown outcome that waits for a person.
func unresolved(job *jobs.Job) *failure {
	message := fmt.Sprintf("The outcome of job %s is unknown: it may have been done.", job.ID)
	if b := job.BlockedBy; b != nil {
		message = fmt.Sprintf("The outcome of job %s is unknown (%s): attempt %d may have been done. It is not sent again by itself. "+
			"Find out at the provider; an operator then resolves it with POST /v1/jobs/%s/attempts/%d/resolve, or cancel it with "+
			"POST /v1/jobs/%s/attempts/%d/cancel if it may be done twice.",
			job.ID, b.Reason, b.Attempt, job.ID, b.Attempt, job.ID, b.Attempt)
	}
	return &failure{status: http.StatusGatewayTimeout, retry: noAgain, said: said{
		Code: "outcome_unknown", Message: message + " The same Idempotency-Key then leads to what became of it.",
	}}
}
