package providers

import (
	"context"
	"sync"
	"time"
)

// MaxPause bounds how long a provider is left alone because of one answer: a
// Retry-After of a day must not stop a route for a day.
const MaxPause = time.Hour

// Pauses remembers until when a provider asked to be left alone. LocalPauses
// knows it for one process; an implementation over the store knows it for all
// workers, and should answer from memory most of the time, for it is asked before
// every call. Implementations are safe for concurrent use.
type Pauses interface {
	// Pause leaves a provider alone until a time; a pause is never made shorter.
	Pause(ctx context.Context, provider string, until time.Time) error
	// Paused is until when a provider is left alone; a time in the past, or the
	// zero time, means that it is not.
	Paused(ctx context.Context, provider string) (until time.Time, err error)
}

// WithPause returns p, which is not called again before the time it asked for
// with a Retry-After, at most MaxPause: after a 429, and after a 503 or 529 too.
// A call meanwhile ends at once with a definite failure, ReasonRateLimited,
// retryable and without effect, nothing written, and the rest of the pause as
// RetryAfter. So the route's plan decides: it waits as it would for a 429 of the
// attempt's own, or goes on to the next provider. A call is not kept waiting
// here, for it would hold its lease, its deadline and a place among the calls of
// this worker.
//
// Calls under way when the 429 comes are not touched. Pauses that cannot be read
// or written never hold up a call. Lookup and Cancel pass, as far as p has them.
func WithPause(p Provider, name string, pauses Pauses) Provider {
	return capable(&paused{base: p, name: name, pauses: pauses}, p)
}

type paused struct {
	base   Provider
	name   string
	pauses Pauses
}

func (p *paused) Execute(ctx context.Context, call *Call) Outcome {
	if until, err := p.pauses.Paused(ctx, p.name); err == nil {
		if rest := time.Until(until); rest > 0 {
			return held(call.Wire, ReasonRateLimited, "the provider asked to be left alone for a while", min(rest, MaxPause))
		}
	}
	outcome := p.base.Execute(ctx, call)
	if wish := pauseWished(outcome); wish > 0 {
		// The attempt has its outcome; that others may run into the same is no
		// reason to lose it. ctx may be at its end.
		_ = p.pauses.Pause(context.WithoutCancel(ctx), p.name, time.Now().Add(wish))
	}
	return outcome
}

// pauseWished is how long a provider wants no calls; 0 when it did not say.
func pauseWished(o Outcome) time.Duration {
	if o.Kind != Failed || !o.Retryable {
		return 0
	}
	switch o.Reason {
	case ReasonRateLimited, ReasonBusy, ReasonOverloaded:
		return min(o.RetryAfter, MaxPause)
	}
	return 0
}

// LocalPauses is Pauses for one process. The zero value is ready for use.
type LocalPauses struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Pause is Pauses.Pause; it never fails.
func (l *LocalPauses) Pause(_ context.Context, provider string, until time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[string]time.Time{}
	}
	if until.After(l.until[provider]) {
		l.until[provider] = until
	}
	return nil
}

// Paused is Pauses.Paused; it never fails.
func (l *LocalPauses) Paused(_ context.Context, provider string) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until[provider], nil
}
