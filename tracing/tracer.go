// Package tracing makes OpenTelemetry spans of a job's way: the request that
// submitted it, its wake-up, every attempt, every call of a provider.
//
// It is for those who look on. Nothing in onejob depends on a trace being there,
// complete or exported, and a collector that is away costs spans and nothing
// else. Spans carry ids, names and outcomes; never payloads, keys or credentials.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// scope is the instrumentation scope of every span.
const scope = "onejob"

// Tracer makes spans. The zero value makes none: what it starts is the context
// that came, so that a caller's trace is passed on to the provider all the same.
// It is safe for concurrent use.
type Tracer struct{ tracer trace.Tracer }

// New returns a Tracer whose spans go to provider.
func New(provider trace.TracerProvider) Tracer {
	return Tracer{tracer: provider.Tracer(scope)}
}

// On tells whether spans are made at all.
func (t Tracer) On() bool { return t.tracer != nil }

// Start begins a span below the one in ctx. End it.
func (t Tracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !t.On() {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, name, options...)
}

// StartClient begins the span of a question to somebody else.
func (t Tracer) StartClient(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return t.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

// Join begins a span of kind in the trace it belongs to: below cause, what made
// it happen, where that is known; else below job, the trace context its job was
// submitted with. Where the two are different traces it links to the job's.
func (t Tracer) Join(ctx context.Context, job, name string, kind trace.SpanKind, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !t.On() {
		// The context the job came with, whoever woke the attempt.
		return WithTraceparent(ctx, job), trace.SpanFromContext(WithTraceparent(ctx, job))
	}
	options = append(options, trace.WithSpanKind(kind))
	cause := trace.SpanContextFromContext(ctx)
	origin := spanContext(ctx, job)
	switch {
	case !cause.IsValid():
		ctx = WithTraceparent(ctx, job)
	case origin.IsValid() && origin.TraceID() != cause.TraceID():
		options = append(options, trace.WithLinks(trace.Link{SpanContext: origin}))
	}
	return t.Start(ctx, name, options...)
}

// Link ties the span in ctx to the trace a job was submitted with, unless it is
// the same trace.
func Link(ctx context.Context, job string) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	origin := spanContext(ctx, job)
	if origin.IsValid() && origin.TraceID() != span.SpanContext().TraceID() {
		span.AddLink(trace.Link{SpanContext: origin})
	}
}

// Note adds attributes to the span in ctx.
func Note(ctx context.Context, attributes ...attribute.KeyValue) {
	trace.SpanFromContext(ctx).SetAttributes(attributes...)
}

// ID is the trace id of the span in ctx, for the log; empty when none is made.
func ID(ctx context.Context) string {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return span.SpanContext().TraceID().String()
	}
	return ""
}
