package providers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// sentWire is the wire of a call that left, or did not.
func sentWire(t *testing.T, sent bool) *Wire {
	t.Helper()
	wire := NewWire(nil)
	if sent {
		require.NoError(t, wire.Leaving())
		wire.Wrote(10)
	}
	return wire
}

// What the wire shows decides, not that the code failed.
func TestPanicked(t *testing.T) {
	t.Parallel()
	o := Panicked(sentWire(t, false))
	require.Equal(t, Failed, o.Kind)
	require.Equal(t, ReasonNotSent, o.Reason)
	require.Equal(t, EffectNone, o.Effect)
	require.False(t, o.Retryable, "it would panic again")

	o = Panicked(sentWire(t, true))
	require.Equal(t, Unknown, o.Kind)
	require.Equal(t, ReasonCrashed, o.Reason)
	require.Equal(t, EffectUnknown, o.Effect)
	require.False(t, o.Retryable)
	require.EqualValues(t, 10, o.Evidence.BytesWritten)
}

// What was said not to have been sent must not leave afterwards.
func TestUnfinishedCallsAreSealed(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Wire) Outcome{
		"panicked": Panicked,
		"unsent":   func(w *Wire) Outcome { return Unsent(w, "no replica") },
	} {
		wire := sentWire(t, false)
		require.Equal(t, ReasonNotSent, end(wire).Reason, name)
		require.ErrorIs(t, wire.Leaving(), errSealed, name)
	}
}

func TestUnsent(t *testing.T) {
	t.Parallel()
	o := Unsent(sentWire(t, false), "no replica")
	require.Equal(t, Failed, o.Kind)
	require.Equal(t, ReasonNotSent, o.Reason)
	require.Equal(t, EffectNone, o.Effect)
	require.True(t, o.Retryable)
	require.Equal(t, "not sent: no replica", o.Message)
	require.True(t, o.Evidence.SentAt.IsZero())
}

// "Not sent" is a promise, and is not given for a call that may have left.
func TestUnsentOfACallThatLeft(t *testing.T) {
	t.Parallel()
	o := Unsent(sentWire(t, true), "no replica")
	require.Equal(t, Unknown, o.Kind)
	require.Equal(t, ReasonStopped, o.Reason)
	require.Equal(t, EffectUnknown, o.Effect)
	require.False(t, o.Retryable)
}

func TestUnended(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	<-over.Done()
	off, cancelOff := context.WithCancel(t.Context())
	cancelOff()
	for want, ctx := range map[string]context.Context{ReasonDeadline: over, ReasonStopped: off} {
		o := Unended(ctx, sentWire(t, true))
		require.Equal(t, Unknown, o.Kind)
		require.Equal(t, want, o.Reason)
		require.Equal(t, EffectUnknown, o.Effect)
		require.EqualValues(t, 10, o.Evidence.BytesWritten)
	}
}
