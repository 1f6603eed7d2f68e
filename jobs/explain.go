package jobs

import (
	"fmt"
	"strconv"
	"time"
)

// explain turns the stored error of a failed job into what a person reads: the
// code is the scripts', the hint says what can be done.
func explain(job *Job, code string, fields fieldList) *Error {
	e := &Error{Code: code, Message: fields.at("error_message"), Attempt: int(whole(fields.at("error_attempt")))}
	switch code {
	case "failover_not_certified":
		next := fields.at("error_provider")
		e.Message = fmt.Sprintf("provider %s failed (%s), and %s is not certified for route %s",
			job.Provider, e.Message, next, job.Route)
		e.Hint = fmt.Sprintf("certify it with `onejob contract verify --route %s --provider %s`, or accept the risk with "+
			"`failover: untested`; then retry with POST /v1/jobs/%s/attempts", job.Route, next, job.ID)
	case "store_rewound":
		e.Message = fmt.Sprintf("attempt %d failed (%s); the store went back in time, and the attempt that follows may have "+
			"been made in what it lost", e.Attempt, e.Message)
		e.Hint = "look at the provider for other attempts of this job; then open the next one with " + retryCall(job)
	case "start_expired":
		e.Hint = "it was never sent to a provider; submit it again with a new key, or retry with " + retryCall(job)
	case "attempt_cancelled", "resolved_failed":
		e.Hint = "a person decided this; open the next attempt with " + retryCall(job)
	default:
		e.Hint = "open another attempt with " + retryCall(job)
	}
	return e
}

func retryCall(job *Job) string { return "POST /v1/jobs/" + job.ID + "/attempts" }

// Answers to "why (not)?" in Next.
const (
	whySucceeded  = "job_succeeded"      // it has its result; there is nothing to try again
	whyCancelled  = "job_cancelled"      // a person ended it, for good
	whyFailed     = "job_failed"         // definite: nobody is at it any more
	whyUnresolved = "attempt_unresolved" // an attempt is not settled; see blocked_by
)

// nextOf says whether another attempt may be opened now, by the rules of open.lua.
func nextOf(job *Job) *Next {
	switch job.State {
	case Succeeded:
		return &Next{Why: whySucceeded}
	case Cancelled:
		return &Next{Why: whyCancelled}
	case Failed:
		return &Next{Allowed: true, Why: whyFailed, Call: retryCall(job)}
	}
	next := &Next{Why: whyUnresolved}
	if job.BlockedBy != nil && len(job.BlockedBy.Actions) > 0 {
		next.Call = job.BlockedBy.Actions[0]
	}
	return next
}

// blockOf says which attempt holds back the next one; nil when none is open. An
// unknown attempt comes first, for it is the one that may need somebody.
func blockOf(job *Job) *Block {
	var open *Attempt
	for i := range job.Attempts {
		a := &job.Attempts[i]
		if a.State.Open() && (open == nil || open.State != AttemptUnknown) {
			open = a
		}
	}
	if open == nil || job.State.Ended() {
		return nil
	}
	b := &Block{Attempt: open.Number, State: string(open.State), Reason: open.Reason, Since: open.since()}
	if open.State == AttemptUnknown {
		if open.listenedTo() {
			b.ListeningUntil = open.Deadline
		}
		b.NextLookupAt = open.lookupAt
	}
	b.Actions = actions(job, open, b)
	return b
}

// actions are what may be done about an open attempt, the best first: to wait,
// as long as it can settle by itself.
func actions(job *Job, open *Attempt, b *Block) []string {
	call := retryCall(job) + "/" + strconv.Itoa(open.Number)
	var can []string
	if open.State != AttemptUnknown || !b.ListeningUntil.IsZero() || !b.NextLookupAt.IsZero() {
		can = append(can, "wait")
	}
	if open.State == AttemptUnknown {
		can = append(can, call+"/resolve")
	}
	return append(can, call+"/cancel", "POST /v1/jobs/"+job.ID+"/cancel")
}

// listenedTo tells whether a late answer can still settle an unknown attempt:
// after a time-out its worker goes on listening; after any other suspicion
// nobody does.
func (a *Attempt) listenedTo() bool {
	return a.Reason == "timeout" && a.Deadline.Go().After(time.Now())
}

// since is when the attempt came into the state it is in.
func (a *Attempt) since() Time {
	switch {
	case a.State == AttemptUnknown:
		return a.UnknownAt
	case a.State == AttemptRunning && !a.SentAt.IsZero():
		return a.SentAt
	}
	return a.CreatedAt
}
