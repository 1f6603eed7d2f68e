package recovery

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"onejob/jobs"
	"onejob/providers"
	"onejob/tracing"
)

// trace begins the span of a question about an attempt, in the trace its job was
// submitted in; end it with what was learnt. What the store makes of that happens in
// the span, too: an attempt it opens belongs to the same trace.
func (r *Reconciler) trace(ctx context.Context, name string, job *jobs.Job, a *jobs.Attempt) (_ context.Context, end func(providers.Outcome)) {
	ctx, span := r.Tracer.Join(ctx, job.Trace, name, trace.SpanKindClient, trace.WithAttributes(
		tracing.Job(job.ID), tracing.Attempt(a.Number), tracing.Route(job.Route), tracing.Provider(a.Provider),
	))
	return ctx, func(learnt providers.Outcome) {
		noteOutcome(ctx, learnt)
		span.End()
	}
}

// traceReport says on the provider's call which attempt it was about.
func traceReport(ctx context.Context, job *jobs.Job, a *jobs.Attempt, o providers.Outcome) {
	tracing.Link(ctx, job.Trace)
	tracing.Note(ctx, tracing.Job(job.ID), tracing.Attempt(a.Number), tracing.Route(job.Route), tracing.Provider(a.Provider))
	noteOutcome(ctx, o)
}

func noteOutcome(ctx context.Context, o providers.Outcome) {
	if o.Kind != "" {
		tracing.Note(ctx, tracing.Outcome(string(o.Kind)))
	}
	if o.Reason != "" {
		tracing.Note(ctx, tracing.Reason(o.Reason))
	}
}
