package handlers

import (
	"context"
	"errors"
	"fmt"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"

	"onejob/faults"
	"onejob/jobs"
	"onejob/providers"
)

// Waits between two tries to reach the store.
const (
	persistFirst = 100 * time.Millisecond
	persistMost  = 2 * time.Second
)

// persist asks the store until it answers, or until the attempt's deadline: an
// outcome that came while Redis is away is kept and reported when it is back.
// The verb carries an operation id, so that asking again does nothing twice.
func (c *call) persist(ctx context.Context, what string, ask func(context.Context) error) error {
	for wait := persistFirst; ; wait = min(2*wait, persistMost) {
		err := ask(ctx)
		if err == nil || answered(err) {
			return err
		}
		c.log().WarnContext(ctx, "store did not answer; asking again", "verb", what, "error", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-c.ctx.Done():
			timer.Stop()
			// One last time: the deadline may have passed while it was away.
			return ask(ctx)
		}
	}
}

// answered tells whether err is the store's answer, not its absence.
func answered(err error) bool {
	var refusal *jobs.Refusal
	var notClaimed *jobs.NotClaimed
	var newer *jobs.NewerSchema
	return errors.As(err, &refusal) || errors.As(err, &notClaimed) || errors.As(err, &newer)
}

// report hands the outcome to the store.
func (c *call) report(ctx context.Context, o providers.Outcome) {
	var reported jobs.Reported
	var err error
	switch o.Kind {
	case providers.Succeeded:
		reported, err = c.finalize(ctx, o)
	case providers.Failed:
		reported, err = c.fail(ctx, o)
	case providers.Accepted: // its end was reported by somebody else
	default:
		c.suspect(ctx, o.Reason)
	}
	log := c.log("outcome", o.Kind, "reason", o.Reason)
	switch {
	case err != nil:
		log.ErrorContext(ctx, "outcome not recorded", "error", err)
	case reported.Late != "":
		log.WarnContext(ctx, "late result discarded", "late", reported.Late, "sha256", reported.SHA256, "bytes", reported.Bytes)
	case o.Kind == providers.Succeeded, o.Kind == providers.Failed:
		log.InfoContext(ctx, "attempt ended", "state", reported.State)
	default: // unknown, or somebody else has told
		log.InfoContext(ctx, "no longer listening")
	}
	c.worker.options.Observe.Ended(Ended{
		Provider: c.provider.Name, Outcome: o.Kind, Reason: o.Reason, Late: reported.Late, Took: time.Since(c.began),
		Recorded: err == nil,
	})
	traceReport(ctx, o, reported, err)
	for _, w := range reported.Wakes {
		c.worker.options.Waker.Wake(ctx, w)
	}
}

func (c *call) finalize(ctx context.Context, o providers.Outcome) (reported jobs.Reported, err error) {
	ending := c.ending(o)
	err = c.persist(ctx, "finalize", func(ctx context.Context) (err error) {
		reported, err = c.worker.options.Store.Finalize(ctx, ending, o.Result, o.Usage)
		return errors.Join(err, faults.Point(faults.Reported))
	})
	return reported, err
}

func (c *call) fail(ctx context.Context, o providers.Outcome) (reported jobs.Reported, err error) {
	ending := c.ending(o)
	failure := jobs.Failure{
		Reason: o.Reason, Message: o.Message, Retryable: o.Retryable, RetryAfter: o.RetryAfter,
	}
	claim := c.claim.Load()
	err = c.persist(ctx, "fail", func(ctx context.Context) (err error) {
		failure.Policy, err = c.worker.options.Policy(ctx, claim.Route, claim.Params)
		if err != nil {
			return fmt.Errorf("asking for the policy of route %s: %w", claim.Route, err)
		}
		if failure.Policy == nil { // the route has left the configuration: nothing follows
			failure.Retryable, failure.Policy = false, &jobs.Policy{}
		}
		reported, err = c.worker.options.Store.Fail(ctx, ending, failure)
		return errors.Join(err, faults.Point(faults.Reported))
	})
	return reported, err
}

func (c *call) ending(o providers.Outcome) jobs.Ending {
	claim := c.claim.Load()
	evidence, err := jsonv1.Marshal(o.Evidence)
	if err != nil {
		evidence = nil
	}
	return jobs.Ending{
		JobID: claim.JobID, Attempt: claim.Attempt, Fence: claim.Fence, Evidence: evidence,
		Effect: string(o.Effect), SentAgo: c.sentAgo(), Actor: c.worker.name, Op: jobs.NewOp(),
	}
}

// suspect makes the attempt unknown, once.
func (c *call) suspect(ctx context.Context, reason string) {
	if c.suspected.Swap(true) {
		return
	}
	if err := c.suspectNow(ctx, reason); err != nil {
		// The lease lapses, and a sweeper will say it.
		c.log().ErrorContext(ctx, "suspicion not recorded", "reason", reason, "error", err)
	}
}

func (c *call) suspectNow(ctx context.Context, reason string) error {
	claim := c.claim.Load()
	suspicion := jobs.Suspicion{
		JobID: claim.JobID, Attempt: claim.Attempt, Token: claim.Token, Reason: reason, Evidence: c.evidence(),
		Effect: string(providers.EffectUnknown), SentAgo: c.sentAgo(), Actor: c.worker.name, Op: jobs.NewOp(),
		Reminders: c.worker.options.Remind(claim.Route, claim.Provider),
	}
	return c.persist(ctx, "suspect", func(ctx context.Context) error {
		suspected, err := c.worker.options.Store.Suspect(ctx, suspicion)
		if err == nil && suspected {
			c.log().WarnContext(ctx, "outcome unknown", "reason", reason)
			c.traceSuspicion(reason)
			c.worker.options.Observe.Suspected(Suspected{Provider: c.provider.Name, Reason: reason})
		}
		return err
	})
}

// reasonStopped: the worker was stopped before an answer came.
const reasonStopped = "worker_stopped"

// abandon gives the call up when the worker stops: first the mark, then the
// end of listening, so that what comes of it is never taken for an answer.
func (c *call) abandon(ctx context.Context) error {
	defer c.cancel()
	if c.claim.Load() == nil || c.suspected.Swap(true) {
		return nil
	}
	return c.suspectNow(ctx, reasonStopped)
}
