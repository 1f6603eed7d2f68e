package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Names of spans. A server's is its method and route.
const (
	SpanEnqueue = "enqueue" // a wake-up is put on its queue
	SpanAttempt = "attempt" // a worker has an attempt, from its claim to its report
	SpanCall    = "call"    // the one create at the provider
	SpanLookup  = "look-up" // an unknown attempt is asked for
	SpanCancel  = "cancel"  // the provider is asked to stop

	SpanDelivery = "delivery" // a try to tell a job's webhook
)

// Names of events on spans.
const (
	EventSent    = "sent"    // the first byte left
	EventAnswer  = "answer"  // the first byte of an answer came
	EventUnknown = "unknown" // the attempt became unknown; its call may still be listened to
)

// Job names the job a span is about.
func Job(id string) attribute.KeyValue { return attribute.String("onejob.job.id", id) }

// Attempt numbers the attempt of the job.
func Attempt(n int) attribute.KeyValue { return attribute.Int("onejob.attempt", n) }

// Route names the job's route.
func Route(name string) attribute.KeyValue { return attribute.String("onejob.route", name) }

// Provider names the configured provider.
func Provider(name string) attribute.KeyValue { return attribute.String("onejob.provider", name) }

// Fence is the version of the job that the attempt was claimed at.
func Fence(version int64) attribute.KeyValue { return attribute.Int64("onejob.fence", version) }

// Outcome is how a call ended.
func Outcome(kind string) attribute.KeyValue { return attribute.String("onejob.outcome", kind) }

// Reason is the word for why.
func Reason(word string) attribute.KeyValue { return attribute.String("onejob.reason", word) }

// State is the job's, after what the span did.
func State(state string) attribute.KeyValue { return attribute.String("onejob.state", state) }

// Late is why an outcome had no say any more.
func Late(why string) attribute.KeyValue { return attribute.String("onejob.late", why) }

// Replayed marks a submit whose key was known.
func Replayed() attribute.KeyValue { return attribute.Bool("onejob.replayed", true) }

// RequestID is the id a request has in the log.
func RequestID(id string) attribute.KeyValue { return attribute.String("onejob.request_id", id) }

// Failed marks the span in ctx as an error with a word for why, never with the
// text of one: that may hold what a provider or a caller sent.
func Failed(ctx context.Context, reason string) {
	trace.SpanFromContext(ctx).SetStatus(codes.Error, reason)
}
