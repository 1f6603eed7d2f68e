// Package providers is the border between onejob and whoever does the work.
//
// A provider makes exactly one create for one attempt and says honestly how it
// ended: succeeded, accepted, failed for certain, or unknown. It never retries,
// never follows a redirect, and never calls silence a failure. What counts as
// certain is decided in classify.go and nowhere else (design §5).
//
// # A provider type of your own
//
// The package is stable for users who bring one; it imports nothing else of this
// module. Five steps, shown whole in the package's example:
//
//  1. Write a Factory that checks its Config, and return a type with Execute.
//  2. In Execute, build one request under WithWire(ctx, call.Wire), name the
//     attempt on it (Identify, an idempotency key), and send it with Do over
//     Client(config.Transport). Leave retries and redirects off in any SDK; give
//     it that client.
//  3. Hand the Answer to a Judge. Tell it how to recognise the provider's own
//     error (Envelope) and how to read a success (Understand, which answers with
//     Success, TakenOn, Refused, Unreadable and the like). Decide nothing besides.
//  4. If the provider can be asked later or told to stop, implement Lookuper and
//     Canceler, and only then: what is implemented is what onejob relies on.
//  5. Run providertest.Run in its test, then register the Factory under a name.
//
// A type that does not speak HTTP calls call.Wire itself: Leaving right before
// the first byte, Wrote, Read; simulated is one.
package providers

import (
	"context"
	"encoding/json"
	"time"
)

// Provider executes attempts at one configured provider. Implementations are
// safe for concurrent use.
type Provider interface {
	// Execute makes the one create of this attempt and returns how it ended.
	// It must call nothing over the wire unless call.Wire.Leaving returned nil
	// immediately before (the shared transport of this package does so).
	// When ctx ends before an answer came, the outcome is Unknown if a byte
	// was written, and a definite failure (not_sent) if none was.
	Execute(ctx context.Context, call *Call) Outcome
}

// Lookuper is implemented by providers that can be asked what became of an
// attempt. Absent is not proof that the call never ran.
type Lookuper interface {
	// Lookup asks for the attempt by handle or, without one, by attempt id.
	// Unknown with reason ReasonLookupAbsent or ReasonLookupFailed changes
	// nothing; Accepted means: still running.
	Lookup(ctx context.Context, ref Ref) Outcome
}

// Canceler is implemented by providers that can be asked to stop an attempt.
type Canceler interface {
	// Cancel asks the provider to stop. A nil error means it was asked, not
	// that it stopped: the outcome of the attempt is still listened for. An error
	// is logged: it says nothing of inputs, credentials or what the provider wrote.
	Cancel(ctx context.Context, ref Ref) error
}

// Ref names one attempt to a provider.
type Ref struct {
	JobID     string
	AttemptID string
	Handle    string // the provider's own id, empty when none is known
	// ClaimedAt is about when the attempt was claimed; zero when that is not
	// known. It narrows a look-up without a handle.
	ClaimedAt time.Time
}

// Call is one attempt as a provider sees it.
type Call struct {
	JobID     string
	AttemptID string          // also the provider's idempotency key, where it has one
	Try       int             // 1 for the first attempt of this job at this provider
	Input     json.RawMessage // as the caller sent it
	Params    json.RawMessage // merged over the provider's options; may be nil
	// Traceparent is the W3C trace context to pass on; empty when tracing is off.
	Traceparent string
	// CallbackURL is where the provider may report the end; empty without one.
	CallbackURL string
	// NotAfter is when the claim's lease ends: a receiver may refuse later calls.
	// It is sent as X-Onejob-Not-After.
	NotAfter time.Time
	// Wire guards the first byte and records what went over the connection.
	Wire *Wire
	// Accept stores the provider's handle before anything else happens. It may
	// be nil. An error means the handle is not stored; the call goes on.
	Accept func(ctx context.Context, handle string) error
}

// Kind says how an attempt ended.
type Kind string

// The four outcomes of a call (design §5).
const (
	Succeeded Kind = "succeeded"
	Accepted  Kind = "accepted" // the provider took it and gave a handle to poll
	Failed    Kind = "failed"   // definite: proven that this attempt will not succeed
	Unknown   Kind = "unknown"  // anything that is not proof
)

// Effect says whether the attempt may have had an effect, or cost money, at the
// provider.
type Effect string

// Effects of an attempt.
const (
	EffectNone    Effect = "none"
	EffectDone    Effect = "done"
	EffectUnknown Effect = "unknown"
)

// Outcome is what is known about an attempt after its call.
type Outcome struct {
	Kind       Kind
	Result     json.RawMessage // Succeeded: valid JSON
	Usage      json.RawMessage // token or cost figures as the provider sent them; may be nil
	Handle     string          // Accepted: what to poll
	Reason     string          // Failed, Unknown: one of the Reason constants
	Message    string          // one line for people; never a secret, never a payload
	Retryable  bool            // Failed: the same request may succeed later or elsewhere
	RetryAfter time.Duration   // Failed, retryable: the provider's wish; 0 when it had none
	Effect     Effect
	Evidence   Evidence
}
