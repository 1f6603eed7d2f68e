package providers

// Repeated judges the outcome of a create that was sent again, under the same
// key, to a provider that declares it dedupes. Only what the provider says about
// the work itself counts: the result, or that the work failed. Any other no is
// about the repetition: that it did not get through, came while the first is at
// work (409, 425), or is taken for another request under a used key (400, 422)
// because an option has changed since. It says nothing about the first.
func Repeated(o Outcome) Outcome {
	if settles(o) {
		return o
	}
	repeated := LookupFailed("asking again under the same key settled nothing: " + o.Message)
	repeated.Evidence = o.Evidence
	return repeated
}

func settles(o Outcome) bool {
	switch o.Kind {
	case Succeeded, Accepted:
		return true
	case Failed:
	case Unknown:
		return false
	}
	switch o.Reason {
	case ReasonFailedAtProvider, ReasonRefused, ReasonResultTooLarge, ReasonResultGone:
		return true
	}
	return false
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
