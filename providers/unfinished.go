package providers

import (
	"context"
	"errors"
)

// Panicked is the outcome of a call whose provider type panicked: definite when
// the wire shows that nothing was written, else unknown.
func Panicked(wire *Wire) Outcome {
	const text = "the provider type panicked"
	var o Outcome
	if wire.Seal() {
		o = unknown(ReasonCrashed, text)
	} else {
		o = notSent(text)
		o.Retryable = false
	}
	o.Evidence = wire.Evidence()
	return o
}

// Unsent is the outcome of a call that was not let out. Should the wire show that
// it may have left all the same, it is unknown: "not sent" is said of nothing else.
func Unsent(wire *Wire, why string) Outcome {
	o := notSent(why)
	if wire.Seal() {
		o = unknown(ReasonStopped, why)
	}
	o.Evidence = wire.Evidence()
	return o
}

// Unended is the outcome of an accepted call that had not ended when ctx did.
func Unended(ctx context.Context, wire *Wire) Outcome {
	reason := ReasonStopped
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = ReasonDeadline
	}
	o := unknown(reason, "the provider accepted the work and had not ended it")
	o.Evidence = wire.Evidence()
	return o
}

// ReasonCrashed is the reason when the code that speaks to the provider failed during the call.
const ReasonCrashed = "provider_type_crashed"
