package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"go.opentelemetry.io/otel/trace"

	"onejob/faults"
	"onejob/jobs"
	"onejob/providers"
	"onejob/tasks"
	"onejob/tracing"
)

// call is one attempt in the hands of this worker, from its claim to its report.
type call struct {
	worker   *Worker
	provider Provider
	wake     tasks.Wake
	token    string
	began    time.Time // before the claim was sent
	lease    *lease
	wire     *providers.Wire
	traced   context.Context // with the attempt's span; set before claim is
	claim    atomic.Pointer[jobs.Claim]

	suspected atomic.Bool               // the attempt is unknown; a late answer may still settle it
	heard     atomic.Pointer[time.Time] // the latest look-up that said the provider is at it
	cancel    context.CancelFunc        // ends the listening
	ctx       context.Context
}

func newCall(w *Worker, provider Provider, wake tasks.Wake) *call {
	c := &call{
		worker: w, provider: provider, wake: wake, token: jobs.NewOp(),
		began: time.Now(), lease: newLease(w.options.Store.Lease()),
	}
	c.wire = providers.NewWire(c.entitled)
	c.ctx, c.cancel = context.WithDeadline(context.Background(), c.began.Add(provider.Deadline))
	return c
}

// take claims the attempt. A claim whose reply is lost is sent again with the
// same token until it is answered: it may be ours.
func (c *call) take(ctx context.Context) error {
	request := jobs.ClaimRequest{
		JobID: c.wake.JobID, Attempt: c.wake.Attempt, Token: c.token,
		Provider: c.provider.Name, Deadline: c.provider.Deadline, Actor: c.worker.name,
	}
	var claim *jobs.Claim
	err := c.persist(ctx, "claim", func(ctx context.Context) (err error) {
		claim, err = c.worker.options.Store.Claim(ctx, request)
		return errors.Join(err, faults.Point(faults.Claimed))
	})
	if err == nil {
		c.trace(ctx, claim)
		c.claim.Store(claim)
	}
	c.observeClaim(ctx, err)
	return err
}

// run makes the call and reports its outcome, listening until the deadline.
func (c *call) run(ctx context.Context) {
	defer c.cancel()
	defer trace.SpanFromContext(ctx).End()
	answered := make(chan struct{})
	watched := make(chan struct{})
	beaten := make(chan struct{})
	go func() { defer close(watched); c.watchSilence(ctx, answered) }()
	go func() { defer close(beaten); c.beat(ctx, answered) }()
	outcome := c.execute(ctx)
	close(answered)
	<-watched
	<-beaten
	c.report(ctx, outcome)
}

func (c *call) execute(ctx context.Context) (outcome providers.Outcome) {
	claim := c.claim.Load()
	defer func() {
		if p := recover(); p != nil {
			c.log().ErrorContext(ctx, "provider panicked", "panic", panicKind(p), "stack", string(debug.Stack()))
			outcome = providers.Panicked(c.wire)
		}
	}()
	if claim.Unreplicated {
		return providers.Unsent(c.wire, "too few replicas have the claim, and a failover could lose it")
	}
	input, params, err := c.worker.options.Prepare(claim.Route, claim.Provider, claim.Input, claim.Params)
	if err != nil {
		return providers.Invalid(err.Error())
	}
	callback, err := c.worker.options.Callback(ctx, c.provider.Name, claim.JobID, claim.Attempt)
	if err != nil {
		return providers.Unsent(c.wire, err.Error())
	}
	outcome = c.send(ctx, &providers.Call{
		CallbackURL: callback, JobID: claim.JobID, AttemptID: jobs.AttemptID(claim.JobID, claim.Attempt), Try: claim.Try,
		Input: input, Params: params, NotAfter: c.lease.ends(), Wire: c.wire,
		Accept: func(ctx context.Context, handle string) error { return c.accept(ctx, handle) },
	})
	if outcome.Kind == providers.Accepted {
		outcome = c.follow(ctx, outcome, callback != "")
	}
	if faults.Point(faults.Answered) != nil {
		return providers.Panicked(c.wire)
	}
	return c.worker.options.Judge(claim.Route, outcome)
}

// panicKind is what may be logged of a panic's value. The runtime's own speak of code;
// any other may hold what the call was about. The stack shows no values.
func panicKind(value any) string {
	if fault, ok := value.(runtime.Error); ok {
		return fault.Error()
	}
	return fmt.Sprintf("a %T", value)
}

// entitled is asked right before the first byte leaves (I2).
func (c *call) entitled() error {
	if err := faults.Point(faults.Leaving); err != nil {
		return err
	}
	return c.lease.holds()
}

// accept stores a handle before anything else happens.
func (c *call) accept(ctx context.Context, handle string) error {
	return c.persist(context.WithoutCancel(ctx), "accept", func(ctx context.Context) error {
		return c.worker.options.Store.Accept(ctx, c.claim.Load(), handle, c.worker.name)
	})
}

// watchSilence makes the attempt unknown when nothing has been heard for the
// provider's timeout. The call is still listened to.
func (c *call) watchSilence(ctx context.Context, answered <-chan struct{}) {
	select {
	case <-c.wire.Sent():
	case <-answered:
		return
	}
	for {
		silent := c.silent()
		if silent >= c.provider.Timeout {
			c.suspect(ctx, providers.ReasonTimeout)
			return
		}
		timer := time.NewTimer(c.provider.Timeout - silent)
		select {
		case <-timer.C:
		case <-answered:
			timer.Stop()
			return
		}
	}
}

// silent is the time since the latest sign of life: a byte on the wire, or a
// look-up that said the provider is at it. A call of which no byte was taken is
// not silent; it has not begun.
func (c *call) silent() time.Duration {
	at := c.wire.LastActivity()
	if heard := c.heard.Load(); heard != nil && heard.After(at) {
		at = *heard
	}
	if at.IsZero() {
		return 0
	}
	return time.Since(at)
}

// beat extends the lease while the attempt is running. An attempt that was
// revoked may not leave any more; if it has left, it is listened to all the
// same, so that what comes is recorded.
func (c *call) beat(ctx context.Context, answered <-chan struct{}) {
	ticker := time.NewTicker(c.worker.options.Beat)
	defer ticker.Stop()
	for {
		select {
		case <-answered:
			return
		case <-ticker.C:
		}
		if c.suspected.Load() {
			return
		}
		if !c.beatOnce(ctx) {
			return
		}
	}
}

func (c *call) beatOnce(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, c.worker.options.Beat)
	defer cancel()
	sent := time.Now()
	beating, err := c.worker.options.Store.Beat(ctx, c.claim.Load(), c.sentAgo())
	var refusal *jobs.Refusal
	switch {
	case errors.As(err, &refusal), err == nil && !beating:
		c.lease.revoke()
		c.worker.options.Observe.LeaseLost(c.provider.Name)
		return false
	case err != nil:
		c.log().WarnContext(ctx, "lease not extended", "error", err)
	default:
		c.lease.extend(sent)
	}
	return true
}

// sentAgo is the time since the call left; 0 when it has not.
func (c *call) sentAgo() time.Duration {
	at := c.wire.Evidence().SentAt
	if at.IsZero() {
		return 0
	}
	return max(time.Since(at), time.Millisecond)
}

func (c *call) evidence() json.RawMessage {
	b, err := jsonv1.Marshal(c.wire.Evidence())
	if err != nil {
		return nil
	}
	return b
}

func (c *call) log(more ...any) *slog.Logger {
	said := append(make([]any, 0, 20), "job", c.wake.JobID, "attempt", c.wake.Attempt, "provider", c.provider.Name)
	if claim := c.claim.Load(); claim != nil {
		said = append(said, "owner", claim.Owner, "route", claim.Route)
		if id := tracing.ID(c.traced); id != "" {
			said = append(said, "trace_id", id)
		}
	}
	return c.worker.options.Log.With(append(said, more...)...) // each With is written out at once
}
