package handlers

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"onejob/jobs"
	"onejob/providers"
	"onejob/tracing"
)

// trace begins the span of an attempt that this delivery has claimed; others have
// none. It belongs to the trace of what woke it, which the task's headers say. A
// wake-up of the sweeper's has no headers: then it is the trace the job was
// submitted in.
func (c *call) trace(ctx context.Context, claim *jobs.Claim) {
	c.traced, _ = c.worker.options.Tracer.Join(ctx, claim.Trace, tracing.SpanAttempt, trace.SpanKindConsumer,
		trace.WithTimestamp(c.began), trace.WithAttributes(
			tracing.Job(claim.JobID), tracing.Attempt(claim.Attempt), tracing.Route(claim.Route),
			tracing.Provider(claim.Provider), tracing.Fence(claim.Fence),
		))
}

// send makes the call in a span of its own, which the provider is told of.
func (c *call) send(ctx context.Context, call *providers.Call) (outcome providers.Outcome) {
	ctx, span := c.worker.options.Tracer.StartClient(ctx, tracing.SpanCall,
		tracing.Job(call.JobID), tracing.Attempt(c.wake.Attempt), tracing.Provider(c.provider.Name))
	defer func() {
		traceWire(span, c.wire.Evidence())
		traceOutcome(ctx, outcome)
		span.End()
	}()
	call.Traceparent = tracing.Traceparent(ctx)
	return c.provider.Execute(trace.ContextWithSpan(c.ctx, span), call)
}

// traceWire puts what was seen on the wire on the call's span.
func traceWire(span trace.Span, e providers.Evidence) {
	if !span.IsRecording() {
		return
	}
	if !e.SentAt.IsZero() {
		span.AddEvent(tracing.EventSent, trace.WithTimestamp(e.SentAt))
	}
	if !e.FirstByteAt.IsZero() {
		span.AddEvent(tracing.EventAnswer, trace.WithTimestamp(e.FirstByteAt))
	}
	if e.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", e.Status))
	}
}

func traceOutcome(ctx context.Context, o providers.Outcome) {
	tracing.Note(ctx, tracing.Outcome(string(o.Kind)))
	if o.Reason != "" {
		tracing.Note(ctx, tracing.Reason(o.Reason))
	}
	if o.Kind != providers.Succeeded && o.Kind != providers.Accepted {
		tracing.Failed(ctx, o.Reason)
	}
}

// traceReport puts on the attempt's span what the store made of the outcome.
func traceReport(ctx context.Context, o providers.Outcome, reported jobs.Reported, err error) {
	traceOutcome(ctx, o)
	if reported.State != "" {
		tracing.Note(ctx, tracing.State(string(reported.State)))
	}
	if reported.Late != "" {
		tracing.Note(ctx, tracing.Late(reported.Late))
	}
	if err != nil {
		tracing.Failed(ctx, "not_recorded")
	}
}

// traceSuspicion marks the moment from which the attempt was unknown.
func (c *call) traceSuspicion(reason string) {
	trace.SpanFromContext(c.traced).AddEvent(tracing.EventUnknown, trace.WithAttributes(tracing.Reason(reason)))
}
