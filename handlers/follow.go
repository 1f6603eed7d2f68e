package handlers

import (
	"context"
	"time"

	"onejob/jobs"
	"onejob/providers"
)

// Pauses between two looks at a call the provider has accepted. They are never
// longer than a third of its timeout, or the pause itself would be a silence.
const (
	followFirst = 250 * time.Millisecond
	followMost  = 10 * time.Second
)

// follow keeps the handle of an accepted call and listens for its end until the
// deadline: by asking the provider, where it can be asked, and by watching the
// job, for the end may be reported at a callback URL or decided by a person.
// Accepted as the answer means that somebody else has reported the end.
func (c *call) follow(ctx context.Context, accepted providers.Outcome, callback bool) providers.Outcome {
	if accepted.Handle != "" {
		if err := c.accept(ctx, accepted.Handle); err != nil {
			c.log().WarnContext(ctx, "handle not stored", "error", err)
		}
	}
	lookuper, askable := c.provider.Provider.(providers.Lookuper)
	if !askable && !callback {
		return providers.Untraceable()
	}
	claim := c.claim.Load()
	changed, stop, err := c.worker.options.Store.Watch(claim.JobID)
	if err != nil {
		changed, stop = nil, func() {} // then it is only looked at now and then
	}
	defer stop()
	most := min(followMost, c.provider.Timeout/3)
	for pause := min(followFirst, most); ; pause = min(2*pause, most) {
		if !c.pause(pause, changed) {
			return providers.Unended(c.ctx, c.wire)
		}
		if c.endedElsewhere() {
			return accepted
		}
		if !askable {
			continue
		}
		found := lookuper.Lookup(c.ctx, providers.Ref{
			JobID: claim.JobID, AttemptID: jobs.AttemptID(claim.JobID, claim.Attempt), Handle: accepted.Handle,
		})
		switch found.Kind {
		case providers.Succeeded, providers.Failed:
			found.Evidence = accepted.Evidence // of the create; a look-up has none
			return found
		case providers.Accepted:
			now := time.Now()
			c.heard.Store(&now)
		case providers.Unknown: // nothing follows from a look-up that failed
		}
	}
}

// pause waits, or until the job changes; false when the listening is over.
func (c *call) pause(d time.Duration, changed <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-c.ctx.Done():
		return false
	}
	return true
}

// endedElsewhere tells whether the attempt has won or failed without us. One that
// was cancelled or discarded is still listened to, so that what comes is recorded.
func (c *call) endedElsewhere() bool {
	claim := c.claim.Load()
	job, err := c.worker.options.Store.Get(c.ctx, claim.JobID)
	if err != nil {
		return false
	}
	attempt := job.Attempt(claim.Attempt)
	return attempt != nil && (attempt.State == jobs.AttemptSucceeded || attempt.State == jobs.AttemptFailed)
}
