package handlers

import (
	"context"
	"time"

	"onejob/jobs"
	"onejob/providers"
)

// Pauses between two looks at a call the provider has accepted.
const (
	followFirst = 250 * time.Millisecond
	followMost  = 10 * time.Second
)

// follow keeps the handle of an accepted call and asks for it until it ended or
// the deadline came. An answer that says "running" breaks the silence.
func (c *call) follow(ctx context.Context, accepted providers.Outcome) providers.Outcome {
	if accepted.Handle != "" {
		if err := c.accept(ctx, accepted.Handle); err != nil {
			c.log().WarnContext(ctx, "handle not stored", "error", err)
		}
	}
	lookuper, ok := c.provider.Provider.(providers.Lookuper)
	if !ok {
		return providers.Untraceable()
	}
	claim := c.claim.Load()
	ref := providers.Ref{
		JobID: claim.JobID, AttemptID: jobs.AttemptID(claim.JobID, claim.Attempt), Handle: accepted.Handle,
	}
	for pause := followFirst; ; pause = min(2*pause, followMost) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			timer.Stop()
			return providers.Unended(c.ctx, c.wire)
		}
		found := lookuper.Lookup(c.ctx, ref)
		switch found.Kind {
		case providers.Succeeded, providers.Failed:
			return found
		case providers.Accepted:
			now := time.Now()
			c.heard.Store(&now)
		case providers.Unknown: // nothing follows from a look-up that failed
		}
	}
}
