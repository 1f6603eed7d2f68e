package providers

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// BreakerState is the state of a Breaker.
type BreakerState string

// States of a breaker.
const (
	BreakerClosed   BreakerState = "closed"    // calls go through
	BreakerOpen     BreakerState = "open"      // none does
	BreakerHalfOpen BreakerState = "half-open" // one does, to see
)

// BreakerSettings says when a breaker opens, and for how long.
type BreakerSettings struct {
	// Failures in a row after which the breaker opens. Defaults to 5.
	Failures int
	// OpenFor is how long it stays open before one call is let through. Defaults
	// to 30s.
	OpenFor time.Duration
}

// Breaker keeps calls away from a provider that is down (design §5). It is safe
// for concurrent use, and knows only of the calls of this process.
type Breaker struct {
	base    Provider
	circuit *gobreaker.CircuitBreaker[Outcome]
	until   atomic.Int64 // when the open state ends, Unix nanoseconds
}

// WithBreaker returns p behind a breaker, and the breaker. The returned provider
// has Lookup and Cancel as far as p has; they pass by the breaker, for asking
// makes no effect, and what is unknown must be settled also while p is down.
//
// Open, Execute answers with a definite failure, ReasonCircuitOpen, retryable
// and without effect: nothing is written, and RetryAfter is the time until one
// call will be let through. Half open, exactly one call is let through: it
// closes the breaker, or opens it again.
//
// Only what speaks of the provider's health counts against it: no connection, a
// 5xx, 529 included, a broken or unreadable answer, silence until the deadline.
// A 4xx says that it is alive, so it counts for it, as does a 429. A call that
// could not be made for reasons of ours (its lease was over, it was called off,
// the input made no request) counts neither way. What a silent call means is
// known when it ends, at its deadline.
//
// observe is called at every change, in order; it may be nil, must not block and
// must not ask the breaker.
func WithBreaker(p Provider, settings BreakerSettings, observe func(from, to BreakerState)) (Provider, *Breaker) {
	if settings.Failures <= 0 {
		settings.Failures = 5
	}
	if settings.OpenFor <= 0 {
		settings.OpenFor = 30 * time.Second
	}
	b := &Breaker{base: p}
	b.circuit = gobreaker.NewCircuitBreaker[Outcome](gobreaker.Settings{
		MaxRequests: 1,
		Timeout:     settings.OpenFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return int(c.ConsecutiveFailures) >= settings.Failures },
		IsExcluded:  func(err error) bool { return err != nil && !errors.Is(err, errUnwell) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				b.until.Store(time.Now().Add(settings.OpenFor).UnixNano())
			}
			if observe != nil {
				observe(stateOf(from), stateOf(to))
			}
		},
	})
	return capable(b, p), b
}

// State is the breaker's state now.
func (b *Breaker) State() BreakerState { return stateOf(b.circuit.State()) }

// Execute calls the provider unless the breaker is open. See WithBreaker.
func (b *Breaker) Execute(ctx context.Context, call *Call) Outcome {
	wire := call.Wire
	outcome, err := b.circuit.Execute(func() (Outcome, error) {
		outcome := b.base.Execute(ctx, call)
		return outcome, verdict(ctx, wire, outcome)
	})
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		return held(wire, ReasonCircuitOpen, "the provider has failed too often and is left alone for a while",
			max(time.Until(time.Unix(0, b.until.Load())), 0))
	case errors.Is(err, gobreaker.ErrTooManyRequests):
		return held(wire, ReasonCircuitOpen, "the provider has failed too often, and one call is under way to see whether it is back", 0)
	}
	return outcome
}

// held is a call that was not made because of what is known of the provider.
func held(wire *Wire, reason, why string, after time.Duration) Outcome {
	if wire == nil {
		wire = NewWire(nil)
	}
	o := Unsent(wire, why)
	o.Reason, o.RetryAfter = reason, after
	return o
}

// Verdicts on a provider's health; nil is a good one.
var (
	errUnwell = errors.New("the provider is unwell")
	errNoSign = errors.New("the call says nothing of the provider's health")
)

func verdict(ctx context.Context, wire *Wire, o Outcome) error {
	switch o.Kind {
	case Succeeded, Accepted:
		return nil
	case Failed, Unknown:
	default:
		return errNoSign
	}
	switch o.Reason {
	case ReasonRequestInvalid, ReasonStopped, ReasonCircuitOpen, ReasonCrashed:
		return errNoSign
	case ReasonNotSent:
		if wire != nil && wire.refusal() != nil || ctx.Err() != nil {
			return errNoSign // held back by our side
		}
		return errUnwell
	case ReasonProviderError, ReasonBusy, ReasonOverloaded:
		return errUnwell
	}
	if o.Kind == Unknown && o.Reason != ReasonAcceptedUntraceable {
		return errUnwell
	}
	return nil
}

func stateOf(s gobreaker.State) BreakerState {
	switch s {
	case gobreaker.StateOpen:
		return BreakerOpen
	case gobreaker.StateHalfOpen:
		return BreakerHalfOpen
	default:
		return BreakerClosed
	}
}
