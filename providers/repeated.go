package providers

import "net/http"

// Repeated judges the outcome of a create that was sent again, under the same
// key, to a provider that declares it dedupes. Only what the provider says about
// the work itself counts: the result, or a permanent no, which it would have
// given the first time as well. That the repetition did not get through, or came
// while the first is at work (409, 425), says nothing about the first.
func Repeated(o Outcome) Outcome {
	switch {
	case o.Kind == Succeeded, o.Kind == Accepted:
		return o
	case o.Kind == Failed && !o.Retryable && o.Reason != ReasonNotSent && o.Reason != ReasonRequestInvalid &&
		o.Reason != ReasonUnauthorized && o.Evidence.Status != http.StatusConflict && o.Evidence.Status != http.StatusTooEarly:
		return o
	}
	repeated := LookupFailed("asking again under the same key settled nothing: " + o.Message)
	repeated.Evidence = o.Evidence
	return repeated
}

// NeverArrived is an absence that proves something: the provider is declared to
// know every attempt that reached it.
func NeverArrived() Outcome {
	return Outcome{
		Kind: Failed, Reason: ReasonNeverArrived, Retryable: true, Effect: EffectNone,
		Message: "the provider does not know the attempt, and it is declared to know every one that reached it",
	}
}

// Settled is an attempt of which, by the operator's word (settles_after), no
// answer can come any more.
func Settled() Outcome {
	return Outcome{
		Kind: Failed, Reason: ReasonSettled, Retryable: true, Effect: EffectUnknown,
		Message: "no answer came in the time after which, as configured (settles_after), none can come",
	}
}

// Reasons of a definite failure by declaration.
const (
	// ReasonNeverArrived: see NeverArrived.
	ReasonNeverArrived = "never_arrived"
	// ReasonSettled: see Settled.
	ReasonSettled = "settled"
)
