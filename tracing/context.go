package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// propagator is W3C Trace Context. Baggage is not passed on: it may hold anything.
var propagator = propagation.TraceContext{}

const traceparentHeader = "traceparent"

// Traceparent is the trace context in ctx in its W3C form; empty when there is none.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	return carrier[traceparentHeader]
}

// WithTraceparent puts the span that traceparent names into the context. One that
// is empty or malformed changes nothing (W3C Trace Context §3.2).
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return propagator.Extract(ctx, propagation.MapCarrier{traceparentHeader: traceparent})
}

// spanContext is what a traceparent names; not valid for a malformed one.
func spanContext(ctx context.Context, traceparent string) trace.SpanContext {
	none := trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	return trace.SpanContextFromContext(WithTraceparent(none, traceparent))
}

// Headers are the headers that carry the trace context in ctx; nil when there is
// none.
func Headers(ctx context.Context) map[string]string {
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return nil
	}
	return carrier
}

// FromHeaders puts the trace context that headers carry into the context.
func FromHeaders(ctx context.Context, headers map[string]string) context.Context {
	return propagator.Extract(ctx, propagation.MapCarrier(headers))
}

// FromCarrier is FromHeaders for any carrier, such as an HTTP header.
func FromCarrier(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	return propagator.Extract(ctx, carrier)
}
