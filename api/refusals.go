package api

import (
	"fmt"

	"onejob/jobs"
)

// refused shows a refusal of the store. The store has decided; this says it in
// the words of the API (design §7).
func refused(r *jobs.Refusal) *Problem {
	p := refusalProblem(r)
	if r.Code != jobs.CodeNotFound { // see noSuchJob
		p.Job = r.JobID
	}
	if r.Attempt > 0 {
		p.Attempt = &ProblemAttempt{
			Number: r.Attempt, State: r.AttemptState, Reason: r.AttemptReason,
			Since: r.Since, ListeningUntil: r.ListeningUntil,
		}
	}
	return p.because(r)
}

func refusalProblem(r *jobs.Refusal) *Problem {
	switch r.Code {
	case jobs.CodeNotFound:
		return noSuchJob()
	case jobs.CodeNoAttempt:
		return newProblem(&problemNotFound, "The job has no attempt with that number.")
	case jobs.CodeNoWebhook:
		return newProblem(&problemNotFound, "The job has no webhook delivery with that number.")
	case jobs.CodeConflict:
		return newProblem(&problemKeyReused, "The key was sent before with another body, which made job %s. Nothing was written.", r.JobID)
	case jobs.CodeExpired:
		return newProblem(&problemKeyExpired, "The key made job %s, whose record is no longer kept.", r.JobID)
	case jobs.CodeVersion:
		p := newProblem(&problemVersionMismatch, "The job is at version %d and %s.", r.Version, r.State)
		p.Version = r.Version
		return p
	case jobs.CodeJobFinal:
		return newProblem(&problemJobFinal, "The job is %s.", r.State)
	case jobs.CodeAttemptOpen:
		return unresolved(r)
	case jobs.CodeAttemptTerminal:
		return newProblem(&problemAttemptSettled, "Attempt %d is %s.", r.Attempt, r.AttemptState)
	case jobs.CodeNotUnknown:
		return newProblem(&problemAttemptNotUnknown, "Attempt %d is %s, not unknown.", r.Attempt, r.AttemptState)
	case jobs.CodeExpiring:
		return noSuchJob() // as good as gone
	}
	return newProblem(&problemInternal, "The store refused for a reason this version does not know.")
}

// unresolved says which attempt holds back the next one, why, and what to do.
func unresolved(r *jobs.Refusal) *Problem {
	cancel := fmt.Sprintf("POST /v1/jobs/%s/attempts/%d/cancel", r.JobID, r.Attempt)
	if r.AttemptState != jobs.AttemptUnknown {
		return newProblem(&problemAttemptUnresolved, "Attempt %d is %s.", r.Attempt, r.AttemptState).
			hint("Wait for it, or cancel it with %s if you accept that its call may still have an effect.", cancel)
	}
	p := newProblem(&problemAttemptUnresolved,
		"The outcome of attempt %d is unknown (%s): its call may have had its effect.", r.Attempt, r.AttemptReason)
	if !r.ListeningUntil.IsZero() {
		p.Detail += fmt.Sprintf(" A late answer still settles it until %s.", r.ListeningUntil.Go().Format("2006-01-02T15:04:05.000Z"))
	}
	return p.hint("Find out at the provider what became of it. An operator then resolves it with POST /v1/jobs/%s/attempts/%d/resolve; "+
		"or cancel it with %s if you accept that the effect may happen twice.", r.JobID, r.Attempt, cancel)
}

// noSuchJob is the answer for a job that is not there and for another owner's
// alike, to the letter: nobody learns which.
func noSuchJob() *Problem {
	return newProblem(&problemNotFound, "There is no job with this id.")
}
