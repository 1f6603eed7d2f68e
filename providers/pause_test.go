package providers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// limited is a 429 with a Retry-After.
func limited(after time.Duration) Outcome {
	return byStatus(Answer{Status: 429}, Refusal{RetryAfter: after}, true)
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		base := &scripted{outcomes: []Outcome{limited(30 * time.Second), good}}
		var pauses LocalPauses
		p := WithPause(base, "gpt", &pauses)
		other := &scripted{outcomes: []Outcome{good}}
		require.Equal(t, 30*time.Second, execute(t, p).RetryAfter, "the attempt that met it has its own outcome")

		<-time.After(10 * time.Second) // of the bubble's clock
		wire := NewWire(nil)
		o := p.Execute(t.Context(), &Call{Wire: wire})
		require.Equal(t, Failed, o.Kind)
		require.Equal(t, ReasonRateLimited, o.Reason)
		require.Equal(t, EffectNone, o.Effect)
		require.True(t, o.Retryable)
		require.Equal(t, 20*time.Second, o.RetryAfter)
		require.Error(t, wire.Leaving(), "a call that was held back cannot leave afterwards")
		require.Equal(t, 1, base.calls)
		require.Equal(t, Succeeded, execute(t, WithPause(other, "laser", &pauses)).Kind, "others are not paused")
		require.Equal(t, ReasonRateLimited, execute(t, WithPause(other, "gpt", &pauses)).Reason, "whoever shares the pauses is")

		<-time.After(20 * time.Second)
		require.Equal(t, Succeeded, execute(t, p).Kind)
		require.Equal(t, 2, base.calls)
	})
}

func TestWhatPauses(t *testing.T) {
	t.Parallel()
	status := func(n int, after time.Duration) Outcome {
		return byStatus(Answer{Status: n}, Refusal{Message: "m", RetryAfter: after}, true)
	}
	for _, c := range []struct {
		outcome Outcome
		want    time.Duration
	}{
		{status(429, time.Second), time.Second},
		{status(503, time.Second), time.Second},
		{status(529, time.Second), time.Second},
		{status(429, 0), 0},
		{status(429, 24*time.Hour), MaxPause},
		{status(500, time.Minute), 0},
		{status(400, time.Minute), 0},
		{status(502, time.Minute), 0},
		{held(nil, ReasonCircuitOpen, "down", time.Minute), 0},
		{good, 0},
	} {
		require.Equal(t, c.want, pauseWished(c.outcome), c.outcome.Message)
	}
}

func TestPausesOnlyGrow(t *testing.T) {
	t.Parallel()
	var pauses LocalPauses
	now := time.Now()
	for _, until := range []time.Time{now.Add(time.Minute), now.Add(time.Second), {}} {
		require.NoError(t, pauses.Pause(t.Context(), "gpt", until))
	}
	until, err := pauses.Paused(t.Context(), "gpt")
	require.NoError(t, err)
	require.Equal(t, now.Add(time.Minute), until)
}

// brokenPauses are Pauses over a store that is away.
type brokenPauses struct{ asked int }

func (b *brokenPauses) Pause(context.Context, string, time.Time) error {
	b.asked++
	return errors.New("away")
}

func (b *brokenPauses) Paused(context.Context, string) (time.Time, error) {
	b.asked++
	return time.Now().Add(time.Hour), errors.New("away")
}

func TestPausesThatAreAwayHoldNothingUp(t *testing.T) {
	t.Parallel()
	base := &scripted{outcomes: []Outcome{limited(time.Minute)}}
	pauses := &brokenPauses{}
	p := WithPause(base, "gpt", pauses)
	for range 2 {
		require.Equal(t, time.Minute, execute(t, p).RetryAfter)
	}
	require.Equal(t, 2, base.calls)
	require.Equal(t, 4, pauses.asked)
}

// A 409 that speaks of the load is no word about the request.
func TestBusyConflict(t *testing.T) {
	t.Parallel()
	o := byStatus(Answer{Status: 409}, Refusal{Message: "Already running a prediction", Busy: true}, true)
	require.Equal(t, ReasonBusy, o.Reason)
	require.True(t, o.Retryable)
	require.Equal(t, EffectNone, o.Effect)
	require.Equal(t, ReasonRejected, byStatus(Answer{Status: 400}, Refusal{Busy: true}, true).Reason)
}

// A header says more precisely than words when to come back.
func TestRetryAfterInWords(t *testing.T) {
	t.Parallel()
	wish := Refusal{RetryAfter: 30 * time.Second}
	require.Equal(t, 30*time.Second, byStatus(Answer{Status: 429}, wish, true).RetryAfter)
	require.Equal(t, 2*time.Second, byStatus(Answer{Status: 429, Header: map[string][]string{"Retry-After": {"2"}}}, wish, true).RetryAfter)
	require.Equal(t, maxRetryAfter, byStatus(Answer{Status: 429}, Refusal{RetryAfter: 900 * time.Hour}, true).RetryAfter)
	require.Zero(t, byStatus(Answer{Status: 429}, Refusal{RetryAfter: -1}, true).RetryAfter)
}

func TestFailedThereRefusedContent(t *testing.T) {
	t.Parallel()
	o := FailedThere(Refusal{Message: "NSFW", Content: true}, true)
	require.Equal(t, ReasonRefused, o.Reason)
	require.False(t, o.Retryable, "what was refused here is not asked elsewhere")
	require.Equal(t, EffectUnknown, o.Effect)
}
