// Package providertest holds a provider type to the rules of onejob: one create
// on the wire whatever happens, and no outcome called certain that is not
// (design §5). Run it in the test of a type that speaks HTTP:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, providertest.Suite{
//			New: func(t testing.TB, url string, transport http.RoundTripper) providers.Provider { … },
//			Input:   json.RawMessage(`{"page": 1}`),
//			Success: `{"printed": 1}`,
//			Error:   `{"error": {"message": "no paper"}}`,
//			Secret:  "the key New configures",
//		})
//	}
//
// It needs no network beyond the loopback interface.
package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
)

// patience bounds every call of the suite.
const patience = 20 * time.Second

// Suite describes a type to Run. All fields but the last three are needed.
type Suite struct {
	// New makes a provider whose creates go to the server at url, over transport,
	// with Secret as its credential.
	New func(t testing.TB, url string, transport http.RoundTripper) providers.Provider
	// Input is a job's input that the type can send.
	Input json.RawMessage
	// Success is the JSON body of a 200 that the type takes as a result.
	Success string
	// Error is the type's own error envelope.
	Error string
	// Secret must not be seen in any outcome.
	Secret string

	// Stream is a whole answer as text/event-stream, for a type that asks for one;
	// its events are separated by empty lines. Cut short it must never be taken for
	// a success, but for its last StreamTail events, which add nothing to the answer
	// (OpenAI's usage and [DONE]).
	Stream     string
	StreamTail int
	// Found is the JSON body of a 200 to a look-up that says that the attempt
	// succeeded, for a type that can be asked.
	Found string
}

// Run checks the type against every case.
func Run(t *testing.T, s Suite) {
	t.Helper()
	require.NotNil(t, s.New)
	for name, value := range map[string]string{
		"Input": string(s.Input), "Success": s.Success, "Error": s.Error, "Secret": s.Secret,
	} {
		require.NotEmpty(t, value, "Suite.%s is needed", name)
	}
	for _, c := range faults(s) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s.check(t, c)
		})
	}
	t.Run("before the wire", func(t *testing.T) { t.Parallel(); s.beforeTheWire(t) })
	t.Run("clocks", func(t *testing.T) { t.Parallel(); s.clocks(t) })
	t.Run("connections", func(t *testing.T) { t.Parallel(); s.connections(t) })
	t.Run("sizes", func(t *testing.T) { t.Parallel(); s.sizes(t) })
	t.Run("secrets", func(t *testing.T) { t.Parallel(); s.secrets(t) })
	if s.Stream != "" {
		t.Run("streams", func(t *testing.T) { t.Parallel(); s.streams(t) })
	}
	t.Run("look-up", func(t *testing.T) { t.Parallel(); s.lookups(t) })
	t.Run("cancel", func(t *testing.T) { t.Parallel(); s.cancels(t) })
}

// check makes one call to a server that plays c.
func (s Suite) check(t *testing.T, c fault) {
	server := NewServer(t, c.script)
	outcome := s.call(t, server.URL, providers.NewWire(nil))
	c.want.check(t, outcome)
	require.Equal(t, 1, server.Creates(), "exactly one create")
	require.Equal(t, 1, server.Requests(), "and nothing besides")
	require.False(t, outcome.Evidence.SentAt.IsZero(), "the moment of sending is kept")
	require.Positive(t, outcome.Evidence.BytesWritten)
}

// transport returns one that leaves nothing behind.
func transport(t testing.TB) *providers.Transport {
	tr := providers.NewTransport(5 * time.Second)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// call makes one attempt with a fresh provider.
func (s Suite) call(t testing.TB, url string, wire *providers.Wire) providers.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return s.execute(ctx, t, s.New(t, url, transport(t)), wire)
}

// execute makes one attempt and checks what holds for every outcome.
func (s Suite) execute(ctx context.Context, t testing.TB, p providers.Provider, wire *providers.Wire) providers.Outcome {
	t.Helper()
	done := make(chan providers.Outcome, 1)
	go func() { done <- p.Execute(ctx, s.newCall(wire)) }()
	select {
	case outcome := <-done:
		sound(t, outcome, s.Secret)
		return outcome
	case <-time.After(2 * patience):
		require.Fail(t, "Execute did not return after its context ended")
		return providers.Outcome{}
	}
}

// The attempt every case is about.
const (
	jobID     = "job_01JTESTTESTTESTTESTTESTTE0"
	attemptID = jobID + "-a1"
)

func (s Suite) newCall(wire *providers.Wire) *providers.Call {
	return &providers.Call{
		JobID: jobID, AttemptID: attemptID, Try: 1, Input: s.Input,
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		NotAfter:    time.Now().Add(time.Minute),
		Wire:        wire,
	}
}

// sound checks what holds for every outcome.
func sound(t testing.TB, o providers.Outcome, secret string) {
	t.Helper()
	require.Contains(t, []providers.Effect{providers.EffectNone, providers.EffectDone, providers.EffectUnknown}, o.Effect)
	require.NotContains(t, o.Message, "\n", "a message is one line")
	require.LessOrEqual(t, len(o.Message), 1024, "a message is short")
	switch o.Kind {
	case providers.Succeeded:
		require.True(t, json.Valid(o.Result), "a result is JSON")
		require.Empty(t, o.Reason)
	case providers.Accepted:
		require.Empty(t, o.Result)
	case providers.Failed, providers.Unknown:
		require.NotEmpty(t, o.Reason)
		require.NotEmpty(t, o.Message)
		require.Empty(t, o.Result)
	default:
		require.Fail(t, "not a kind of outcome", "%q", o.Kind)
	}
	if o.Kind == providers.Unknown {
		require.False(t, o.Retryable, "unknown is nothing to retry")
		require.Equal(t, providers.EffectUnknown, o.Effect)
		require.NotContains(t, strings.ToLower(o.Message), "not sent")
	}
	if o.Reason == providers.ReasonNotSent {
		require.Zero(t, o.Evidence.BytesWritten, "not sent means that nothing was written")
		require.True(t, o.Evidence.SentAt.IsZero())
	}
	o.Result = nil
	said, err := json.Marshal(o)
	require.NoError(t, err)
	require.NotContains(t, string(said), secret, "an outcome never shows the credential")
}

// errLeaseOver is what the gate of a call says whose lease is over.
var errLeaseOver = errors.New("the lease is over")
