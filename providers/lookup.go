package providers

import (
	"fmt"
	"net/http"
)

// Lookup turns what came back for a look-up into an Outcome. What the provider
// answers about the attempt counts; that it could not be asked does not.
type Lookup struct {
	// Understand reads a whole 200. It answers with one of Success, TakenOn,
	// FailedThere, Absent, LookupFailed, or an outcome of a Judge's vocabulary.
	Understand func(Answer) Outcome
	// Secrets must not appear in what is said about the look-up.
	Secrets Secrets
}

// Outcome judges the answer to a look-up. Its evidence is empty: the evidence of
// an attempt is that of its create.
func (l Lookup) Outcome(a Answer) Outcome {
	outcome := l.decide(a)
	outcome.Message = l.Secrets.line(outcome.Message)
	return outcome
}

func (l Lookup) decide(a Answer) Outcome {
	switch {
	case a.Err != nil:
		return LookupFailed(plain(a.Err))
	case a.Status == http.StatusNotFound:
		return Absent()
	case a.Status != http.StatusOK:
		return LookupFailed(fmt.Sprintf("HTTP %d", a.Status))
	case a.Oversize:
		return TooLarge()
	default:
		return fitting(l.Understand(a))
	}
}

// Absent is a provider that does not know the attempt.
func Absent() Outcome {
	return unknown(ReasonLookupAbsent, "the provider does not know the attempt, which does not prove that it never ran")
}

// LookupFailed is a look-up that taught nothing.
func LookupFailed(why string) Outcome {
	return unknown(ReasonLookupFailed, "the look-up failed: "+why)
}

// FailedThere is a look-up that says the attempt failed. Its effect stays
// unknown: the provider took it before. Refused content is never retryable.
func FailedThere(refusal Refusal, retryable bool) Outcome {
	if refusal.Content {
		return Outcome{
			Kind: Failed, Reason: ReasonRefused, Effect: EffectUnknown,
			Message: refusal.said("the provider refused the content"),
		}
	}
	return Outcome{
		Kind: Failed, Reason: ReasonFailedAtProvider, Retryable: retryable, Effect: EffectUnknown,
		Message: refusal.said("the provider says that the attempt failed"),
	}
}

// ResultGone is work done whose result the provider does not keep any more: no
// answer can bring it, so a person decides whether to do it again.
func ResultGone() Outcome {
	return Outcome{
		Kind: Failed, Reason: ReasonResultGone, Effect: EffectDone,
		Message: "the attempt succeeded at the provider, which does not keep the result any more",
	}
}

// Said describes an answer in one line without secrets, for errors.
func (a Answer) Said(secrets Secrets) string {
	if a.Err != nil {
		return secrets.line(plain(a.Err))
	}
	return fmt.Sprintf("HTTP %d", a.Status)
}
