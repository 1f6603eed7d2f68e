package tasks

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"onejob/jobs"
	"onejob/tracing"
)

// WithTracer makes spans of what is enqueued, and has the tasks carry them.
// Defaults to none.
func WithTracer(tracer tracing.Tracer) QueueOption { return func(q *Queue) { q.tracer = tracer } }

// trace begins the span of an enqueue that something traced has caused; end it with
// what came of it. A wake-up that has no such cause (the sweeper's) has no span: its
// attempt finds its trace in the job.
func (q *Queue) trace(ctx context.Context, w jobs.Wake) (_ context.Context, end func(placed, error)) {
	if !q.tracer.On() || !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, func(placed, error) {}
	}
	ctx, span := q.tracer.Start(ctx, tracing.SpanEnqueue, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		tracing.Job(w.JobID), tracing.Attempt(w.Attempt), tracing.Provider(w.Provider),
		attribute.String("messaging.system", "asynq"), attribute.String("messaging.destination.name", w.Provider),
	))
	return ctx, func(word placed, err error) {
		if err != nil {
			tracing.Failed(ctx, "not_queued")
		}
		if word == parked {
			tracing.Note(ctx, attribute.Bool("onejob.parked", true)) // in its owner's line, for its turn
		}
		span.End()
	}
}

// headers are what a task carries of the trace it belongs to. With tracing off it
// carries none.
func (q *Queue) headers(ctx context.Context) map[string]string {
	if !q.tracer.On() {
		return nil
	}
	return tracing.Headers(ctx)
}
