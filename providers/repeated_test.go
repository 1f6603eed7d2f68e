package providers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of a repetition only what speaks of the work itself settles the first create.
func TestRepeated(t *testing.T) {
	t.Parallel()
	answered := func(status int) Evidence { return Evidence{Status: status, BytesWritten: 9} }
	judged := func(status int) Outcome {
		o := byStatus(Answer{Status: status}, Refusal{Message: "m"}, true)
		o.Evidence = answered(status)
		return o
	}
	for _, c := range []struct {
		name    string
		outcome Outcome
		settles bool
	}{
		{"result", Success([]byte("{}"), nil), true},
		{"accepted", TakenOn("h"), true},
		{"422", judged(422), false},
		{"400", judged(400), false},
		{"refused", Refused("no"), true},
		{"too large", TooLarge(), true},
		{"413", judged(413), false},
		{"failed there", FailedThere(Refusal{Message: "jam"}, false), true},
		{"failed there, for now", FailedThere(Refusal{Message: "jam"}, true), true},
		{"402: the credit is used up since", judged(402), false},
		{"in band, a rejection", InBand(Answer{Status: 200}, Refusal{Message: "m"}, 400), false},
		{"409: the first is at work", judged(409), false},
		{"425: the first is at work", judged(425), false},
		{"401", judged(401), false},
		{"403", judged(403), false},
		{"429", judged(429), false},
		{"500", judged(500), false},
		{"503", judged(503), false},
		{"502", judged(502), false},
		{"not sent", notSent("connection refused"), false},
		{"panicked before anything left", Panicked(NewWire(nil)), false},
		{"invalid", Invalid("no messages"), false},
		{"circuit open", held(nil, ReasonCircuitOpen, "down", 0), false},
		{"paused", held(nil, ReasonRateLimited, "later", 0), false},
		{"silence", unknown(ReasonDeadline, "timed out"), false},
		{"unreadable", Unreadable("no JSON"), false},
		{"307: the repetition did not get there", judged(307), false},
		{"404: nothing there any more", judged(404), false},
		{"405", judged(405), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Repeated(c.outcome)
			if c.settles {
				require.Equal(t, c.outcome, got)
				return
			}
			require.Equal(t, Unknown, got.Kind, "%s: %s", got.Reason, got.Message)
			require.Equal(t, ReasonLookupFailed, got.Reason)
			require.Equal(t, EffectUnknown, got.Effect)
			require.False(t, got.Retryable)
			require.Equal(t, c.outcome.Evidence, got.Evidence, "what was seen is kept")
		})
	}
}

func TestByDeclaration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome Outcome
		reason  string
		effect  Effect
	}{{NeverArrived(), ReasonNeverArrived, EffectNone}, {Settled(), ReasonSettled, EffectUnknown}} {
		require.Equal(t, Failed, c.outcome.Kind)
		require.Equal(t, c.reason, c.outcome.Reason)
		require.Equal(t, c.effect, c.outcome.Effect)
		require.True(t, c.outcome.Retryable)
		require.NotEmpty(t, c.outcome.Message)
	}
}
