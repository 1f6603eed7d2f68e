package providers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// This file decides what an outcome is, for all types, and nowhere else is it
// decided (design §5). Only proof is definite: nothing was written, or the
// provider itself answered no. Everything else, after the first byte, is unknown.

// Refusal is the provider's own error, as its envelope tells it.
type Refusal struct {
	Message string
	Code    string
	// Content: the content was refused, not the call (a filter, a policy).
	Content bool
	// Busy: a 409 that speaks of the provider's load, not of the request.
	Busy bool
	// RetryAfter is the wish in the provider's words, for want of a header; 0
	// without one.
	RetryAfter time.Duration
}

// Judge turns what came back for a create into an Outcome.
type Judge struct {
	// Envelope recognises the provider's own error in the body of an answer.
	// That is what tells its 5xx from the ones of a gateway in front of it.
	Envelope func(Answer) (Refusal, bool)
	// Understand reads a whole 200, 201 or 202. It answers with one of Success,
	// TakenOn, Refused, InBand, Unreadable, Truncated and Untraceable.
	Understand func(Answer) Outcome
	// Secrets must not appear in what is said about the call.
	Secrets Secrets
}

// Outcome judges answer, which was received for the create of wire under ctx.
func (j Judge) Outcome(ctx context.Context, wire *Wire, answer Answer) Outcome {
	outcome := j.decide(ctx, wire, answer)
	outcome.Message = j.Secrets.line(outcome.Message)
	outcome.Evidence = j.Secrets.evidence(wire.Evidence())
	return outcome
}

func (j Judge) decide(ctx context.Context, wire *Wire, a Answer) Outcome {
	switch {
	case a.Err != nil:
		return broken(ctx, wire, a)
	case a.success() && a.Oversize:
		return TooLarge()
	case a.Status == http.StatusOK, a.Status == http.StatusCreated, a.Status == http.StatusAccepted:
		return fitting(j.Understand(a))
	case a.success(), a.Status < 200:
		return Unreadable(fmt.Sprintf("HTTP %d is not an answer to a create", a.Status))
	}
	refusal, own := j.Envelope(a)
	return byStatus(a, refusal, own)
}

// broken judges a call that brought no whole answer. Sealing the wire first
// makes "nothing left" a fact that cannot change after it was read.
func broken(ctx context.Context, wire *Wire, a Answer) Outcome {
	left := wire.Seal()
	text := plain(a.Err)
	if refused := wire.refusal(); !left && refused != nil {
		text = refused.Error()
	}
	wire.Note(func(e *Evidence) { e.Error = text })
	if !left {
		return notSent(text)
	}
	return unknown(brokenReason(ctx, wire, a), text)
}

func brokenReason(ctx context.Context, wire *Wire, a Answer) string {
	begun := a.Status != 0 || wire.Evidence().BytesRead > 0
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ReasonDeadline
	case ctx.Err() != nil:
		return ReasonStopped
	case timedOut(a.Err):
		return ReasonTimeout
	case a.Status == 0 && begun && !wire.atEnd():
		return ReasonAnswerUnreadable // what came was no HTTP; it did not just stop
	case begun:
		return ReasonAnswerTruncated
	default:
		return ReasonConnectionLost
	}
}

// byStatus judges a whole answer that is no success. own: the body is the
// provider's own error.
func byStatus(a Answer, refusal Refusal, own bool) Outcome {
	said := fmt.Sprintf("HTTP %d", a.Status)
	if own {
		said = refusal.said(said)
	}
	no := Outcome{Kind: Failed, Effect: EffectNone, Message: said}
	switch status := a.Status; {
	case gateway(status):
		return unknown(ReasonGatewayAnswer, said)
	case status >= 500 && !own:
		return unknown(ReasonGatewayAnswer, said+" without the provider's own error")
	case status == http.StatusTooManyRequests:
		return no.later(ReasonRateLimited, a.Header, refusal)
	case status == http.StatusServiceUnavailable, status == http.StatusConflict && own && refusal.Busy:
		return no.later(ReasonBusy, a.Header, refusal)
	case status == 529:
		return no.later(ReasonOverloaded, a.Header, refusal)
	case status >= 500:
		no.Effect = EffectUnknown
		return no.later(ReasonProviderError, a.Header, refusal)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		// The provider's words are left out: they like to quote part of the key.
		no.Message = fmt.Sprintf("the provider did not accept the credentials (HTTP %d)", status)
		return no.because(ReasonUnauthorized)
	case own && refusal.Content:
		return no.because(ReasonRefused)
	case status >= 400:
		return no.because(ReasonRejected)
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return no.because(ReasonRedirected)
	default:
		return unknown(ReasonRedirectAnswer, said)
	}
}

// gateway tells whether a status speaks of the way to the provider, whoever
// sent it: time-outs, lost upstreams, callers that left (499), and the 52x and
// 530 of content delivery networks. 529 is a provider's.
func gateway(status int) bool {
	switch status {
	case http.StatusRequestTimeout, 499, http.StatusBadGateway, http.StatusGatewayTimeout, 530:
		return true
	}
	return status >= 520 && status <= 528
}

func (o Outcome) because(reason string) Outcome {
	o.Reason = reason
	return o
}

func (o Outcome) later(reason string, header http.Header, refusal Refusal) Outcome {
	o.Reason, o.Retryable, o.RetryAfter = reason, true, retryAfter(header)
	if o.RetryAfter == 0 {
		o.RetryAfter = min(max(refusal.RetryAfter, 0), maxRetryAfter)
	}
	return o
}

func notSent(why string) Outcome {
	return Outcome{Kind: Failed, Reason: ReasonNotSent, Retryable: true, Effect: EffectNone, Message: "not sent: " + why}
}

func unknown(reason, why string) Outcome {
	return Outcome{Kind: Unknown, Reason: reason, Effect: EffectUnknown, Message: "outcome unknown: " + why}
}

// Success is a result that arrived whole.
func Success(result, usage json.RawMessage) Outcome {
	return Outcome{Kind: Succeeded, Result: result, Usage: usage, Effect: EffectDone}
}

// fitting holds a success to MaxResult.
func fitting(o Outcome) Outcome {
	if o.Kind == Succeeded && len(o.Result) > MaxResult {
		return TooLarge()
	}
	return o
}

// TakenOn is a 202: the provider works on it. The handle may be empty when the
// attempt can be asked for by its id.
func TakenOn(handle string) Outcome {
	return Outcome{Kind: Accepted, Handle: handle, Effect: EffectUnknown}
}

// Untraceable is a 202 of which the end can never be learnt.
func Untraceable() Outcome {
	return unknown(ReasonAcceptedUntraceable, "the provider accepted the work and gave nothing to ask for it by")
}

// Unreadable is a whole answer that says success and cannot be understood.
func Unreadable(why string) Outcome { return unknown(ReasonAnswerUnreadable, why) }

// Truncated is an answer that ended before its own end.
func Truncated(why string) Outcome { return unknown(ReasonAnswerTruncated, why) }

// TooLarge is work done whose result cannot be kept.
func TooLarge() Outcome {
	return Outcome{
		Kind: Failed, Reason: ReasonResultTooLarge, Effect: EffectDone,
		Message: fmt.Sprintf("the result is larger than %d MiB", MaxResult>>20),
	}
}

// Refused is a success that carries a refusal of the content.
func Refused(why string) Outcome {
	return Outcome{Kind: Failed, Reason: ReasonRefused, Effect: EffectDone, Message: why}
}

// Invalid is a job that cannot be turned into a call; nothing was sent. why
// names what is allowed.
func Invalid(why string) Outcome {
	return Outcome{Kind: Failed, Reason: ReasonRequestInvalid, Effect: EffectNone, Message: shorten(why)}
}

// InBand judges an error that came inside a success: in a stream that had begun,
// or as the body of a 200. status is the one the error names, 0 when it names
// none. Work may have been done by then, so no effect is ever ruled out.
func InBand(a Answer, refusal Refusal, status int) Outcome {
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	outcome := byStatus(Answer{Status: status, Header: a.Header}, refusal, true)
	if outcome.Effect == EffectNone {
		outcome.Effect = EffectUnknown
	}
	return outcome
}

// timedOut tells whether err is a time-out of the connection.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}
