package handlers

import (
	"context"
	"errors"
	"time"

	"onejob/jobs"
	"onejob/providers"
	"onejob/tasks"
)

// Observer is told what happens, for those who count: once each, in the order of
// the call. Its functions must be quick; any of them may be nil.
type Observer struct {
	// Claimed is told of every claim that was answered, also of one refused.
	Claimed func(Claimed)
	// Suspected is told of every attempt that became unknown by this worker's word.
	Suspected func(Suspected)
	// LeaseLost is told of every lease that was not extended because the attempt
	// is not this worker's any more: it was cancelled, or its lease had run out.
	LeaseLost func(provider string)
	// Ended is told how every claimed call ended, once it was reported.
	Ended func(Ended)
}

// Claimed is a claim that was answered.
type Claimed struct {
	Provider string
	// Answer is claimed, or why there was nothing to claim: an answer of
	// lua/claim.lua, or unanswered when the store could not be asked.
	Answer string
	// Waited is how long the attempt waited for this since it could have been
	// claimed, by the store's clock; only where it was.
	Waited time.Duration
}

// Suspected is an attempt that became unknown.
type Suspected struct {
	Provider string
	Reason   string
}

// Ended is a call that is over.
type Ended struct {
	Provider string
	// Outcome is Accepted when its end was reported by somebody else.
	Outcome providers.Kind
	Reason  string
	Late    string // why it had no say any more; empty: it counted
	Took    time.Duration
	// Recorded is false for an outcome that the store could not be told.
	Recorded bool
}

func (o Observer) withDefaults() Observer {
	if o.Claimed == nil {
		o.Claimed = func(Claimed) {}
	}
	if o.Suspected == nil {
		o.Suspected = func(Suspected) {}
	}
	if o.LeaseLost == nil {
		o.LeaseLost = func(string) {}
	}
	if o.Ended == nil {
		o.Ended = func(Ended) {}
	}
	return o
}

// AnswerClaimed is Claimed.Answer of a claim that was made.
const AnswerClaimed = "claimed"

const (
	answerUnanswered = "unanswered"
	answerNewer      = "newer_schema" // a newer onejob wrote the job
)

// claimAnswer tells a claim's error apart.
func claimAnswer(err error) string {
	var notClaimed *jobs.NotClaimed
	var refusal *jobs.Refusal
	switch {
	case err == nil:
		return AnswerClaimed
	case errors.As(err, &notClaimed):
		return notClaimed.Why
	case errors.As(err, &refusal):
		return string(refusal.Code)
	case tasks.ForNewer(err):
		return answerNewer
	}
	return answerUnanswered
}

// observeClaim tells of the claim that this delivery made, or did not.
func (c *call) observeClaim(ctx context.Context, err error) {
	claimed := Claimed{Provider: c.provider.Name, Answer: claimAnswer(err)}
	if claim := c.claim.Load(); err == nil && claim != nil {
		claimed.Waited = claim.Waited
	} else {
		c.log().DebugContext(ctx, "not claimed", "why", err)
	}
	c.worker.options.Observe.Claimed(claimed)
}
