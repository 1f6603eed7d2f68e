package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/providers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run makes one try of a job at the provider inkjet.
func run(ctx context.Context, t *testing.T, input string, try int, wire *providers.Wire) providers.Outcome {
	t.Helper()
	p, err := New(providers.Config{Name: "inkjet"})
	require.NoError(t, err)
	return p.Execute(ctx, callOf(input, try, wire))
}

func callOf(input string, try int, wire *providers.Wire) *providers.Call {
	return &providers.Call{
		JobID: "job_1", AttemptID: "job_1-a1", Try: try, Input: json.RawMessage(input), Wire: wire,
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step   string
		kind   providers.Kind
		reason string
		retry  bool
		effect providers.Effect
	}{
		{`{}`, providers.Succeeded, "", false, providers.EffectDone},
		{`{"outcome":"succeed"}`, providers.Succeeded, "", false, providers.EffectDone},
		{`{"outcome":"reject"}`, providers.Failed, providers.ReasonRejected, false, providers.EffectNone},
		{`{"outcome":"busy"}`, providers.Failed, providers.ReasonBusy, true, providers.EffectNone},
		{`{"outcome":"reset"}`, providers.Unknown, providers.ReasonConnectionLost, false, providers.EffectUnknown},
		{`{"outcome":"garbage"}`, providers.Unknown, providers.ReasonAnswerUnreadable, false, providers.EffectUnknown},
		{`{"outcome":"truncate"}`, providers.Unknown, providers.ReasonAnswerTruncated, false, providers.EffectUnknown},
		{`{"outcome":"hang"}`, providers.Unknown, providers.ReasonDeadline, false, providers.EffectUnknown},
		{`{"delay":"2m"}`, providers.Unknown, providers.ReasonDeadline, false, providers.EffectUnknown},
	} {
		t.Run(c.step, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				o := run(ctx, t, `{"simulate":{"inkjet":`+c.step+`}}`, 1, providers.NewWire(nil))
				require.Equal(t, c.kind, o.Kind, o.Message)
				require.Equal(t, c.reason, o.Reason)
				require.Equal(t, c.retry, o.Retryable)
				require.Equal(t, c.effect, o.Effect)
				require.False(t, o.Evidence.SentAt.IsZero())
				require.Positive(t, o.Evidence.BytesWritten)
			})
		})
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"page":9007199254740993,"simulate":{"laser":{"outcome":"hang"}}}`: `{"by":"inkjet","printed":{"page":9007199254740993}}`,
		`{"simulate":null}`: `{"by":"inkjet","printed":{}}`,
		`"hello <b>"`:       `{"by":"inkjet","printed":"hello <b>"}`,
		`{"simulate":{"inkjet":{"result":{"n":1}}}}`:  `{"n":1}`,
		`{"simulate":{"inkjet":{"result":null}}}`:     `null`,
		`{"simulate":{"inkjet":[{"delay":"400ms"}]}}`: `{"by":"inkjet","printed":{}}`,
	} {
		o := run(t.Context(), t, input, 1, providers.NewWire(nil))
		require.Equal(t, providers.Succeeded, o.Kind, o.Message)
		require.Equal(t, want, string(o.Result))
		require.True(t, o.Evidence.Complete)
	}
}

func TestListsGoByTry(t *testing.T) {
	t.Parallel()
	input := `{"simulate":{"inkjet":[{"outcome":"busy","error":"warming up"},{"outcome":"reset"},{"result":3}]}}`
	for try, kind := range []providers.Kind{
		providers.Failed, providers.Failed, providers.Unknown, providers.Succeeded, providers.Succeeded,
	} {
		o := run(t.Context(), t, input, try, providers.NewWire(nil))
		require.Equal(t, kind, o.Kind, "try %d", try)
		if kind == providers.Failed {
			require.Contains(t, o.Message, "warming up")
		}
	}
}

// A script that cannot be read fails for certain before anything leaves, and
// says what is allowed.
func TestBadScripts(t *testing.T) {
	t.Parallel()
	for script, says := range map[string]string{
		`7`:                                "names of providers",
		`{"inkjet":7}`:                     "delay, outcome, result, error",
		`{"inkjet":[]}`:                    "empty",
		`{"inkjet":[{"delay":"1s"},7]}`:    "try 2",
		`{"inkjet":{"dealy":"1s"}}`:        `unknown field "dealy"`,
		`{"inkjet":{"outcome":"explode"}}`: "succeed, reject, busy, hang, reset, garbage, truncate",
		`{"inkjet":{"outcome":7}}`:         "outcome is of the wrong type",
		`{"inkjet":{"delay":"-1s"}}`:       "not negative",
		`{"inkjet":{"delay":"soon"}}`:      "such as 400ms",
		`{"inkjet":{"delay":5}}`:           "delay is of the wrong type",
	} {
		wire := providers.NewWire(func() error { return errors.New("the wire must not be asked") })
		o := run(t.Context(), t, `{"simulate":`+script+`}`, 1, wire)
		require.Equal(t, providers.Failed, o.Kind)
		require.Equal(t, providers.ReasonRequestInvalid, o.Reason)
		require.False(t, o.Retryable)
		require.Equal(t, providers.EffectNone, o.Effect)
		require.Contains(t, o.Message, says)
		require.True(t, o.Evidence.SentAt.IsZero())
	}
}

func TestNothingLeavesWithoutTheLease(t *testing.T) {
	t.Parallel()
	o := run(t.Context(), t, `{}`, 1, providers.NewWire(func() error { return providers.ErrNotEntitled }))
	require.Equal(t, providers.ReasonNotSent, o.Reason)
	require.True(t, o.Retryable)
	require.Zero(t, o.Evidence.BytesWritten)

	over, cancel := context.WithCancel(t.Context())
	cancel()
	o = run(over, t, `{}`, 1, providers.NewWire(nil))
	require.Equal(t, providers.ReasonNotSent, o.Reason)
}

// The silence of a delay is on the wire: nothing comes, then the answer does.
func TestDelayIsSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(providers.Config{Name: "inkjet"})
		require.NoError(t, err)
		wire := providers.NewWire(nil)
		done := make(chan providers.Outcome, 1)
		go func() {
			done <- p.Execute(t.Context(), callOf(`{"simulate":{"inkjet":{"delay":"20s"}}}`, 1, wire))
		}()
		<-wire.Sent()
		sent := wire.LastActivity()
		<-time.After(19 * time.Second) // on the clock of the bubble
		synctest.Wait()
		require.Equal(t, sent, wire.LastActivity())
		o := <-done
		require.Equal(t, providers.Succeeded, o.Kind)
		require.Equal(t, sent.Add(20*time.Second), o.Evidence.FirstByteAt)
	})
}

func TestCalledOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	wire := providers.NewWire(nil)
	go func() { <-wire.Sent(); cancel() }()
	o := run(ctx, t, `{"simulate":{"inkjet":{"outcome":"hang"}}}`, 1, wire)
	require.Equal(t, providers.Unknown, o.Kind)
	require.Equal(t, providers.ReasonStopped, o.Reason)
}

func TestNeedsAName(t *testing.T) {
	t.Parallel()
	_, err := New(providers.Config{})
	require.Error(t, err)
}
