package providertest

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
)

// fakeWants is what must follow from each model of a Fake, whatever its API.
var fakeWants = map[string]want{
	"ok": success(), "fenced": success(), "prose": success(), "extra-keys": success(), "wrong-type": success(),
	"list": success(), "empty": success(), "truncated": success(),
	"refusal":         {kind: providers.Failed, reason: providers.ReasonRefused},
	"filtered":        {kind: providers.Failed, reason: providers.ReasonRefused},
	"unended":         unknown(providers.ReasonAnswerTruncated),
	"cut":             unknown(providers.ReasonAnswerTruncated),
	"fails-midway":    later(providers.ReasonProviderError, providers.EffectUnknown),
	"bad-request":     no(providers.ReasonRejected),
	"unauthorized":    no(providers.ReasonUnauthorized),
	"no-credit":       no(providers.ReasonRejected),
	"forbidden":       no(providers.ReasonUnauthorized),
	"unknown-model":   no(providers.ReasonRejected),
	"conflict":        no(providers.ReasonRejected),
	"too-large":       no(providers.ReasonRejected),
	"unprocessable":   no(providers.ReasonRejected),
	"rate-limited":    {providers.Failed, providers.ReasonRateLimited, true, 7 * time.Second, providers.EffectNone},
	"rate-limited-ms": {providers.Failed, providers.ReasonRateLimited, true, 1500 * time.Millisecond, providers.EffectNone},
	"broken":          later(providers.ReasonProviderError, providers.EffectUnknown),
	"busy":            {providers.Failed, providers.ReasonBusy, true, 3 * time.Second, providers.EffectNone},
	"overloaded":      later(providers.ReasonOverloaded, providers.EffectNone),
	"timed-out-there": unknown(providers.ReasonGatewayAnswer),
	"gateway":         unknown(providers.ReasonGatewayAnswer),
	"gateway-time":    unknown(providers.ReasonGatewayAnswer),
	"cdn":             unknown(providers.ReasonGatewayAnswer),
	"page":            unknown(providers.ReasonAnswerUnreadable),
	"crashed":         unknown(providers.ReasonGatewayAnswer),
	"down":            unknown(providers.ReasonGatewayAnswer),
	"silent":          unknown(providers.ReasonDeadline),
	"reset":           unknown(providers.ReasonConnectionLost),
	"closed":          unknown(providers.ReasonConnectionLost),
	"half":            unknown(providers.ReasonAnswerTruncated),
}

// RunFake checks an AI type against every model of a Fake: one create each, and
// the outcome its fault must have; an answer must come through as it was said.
func RunFake(t *testing.T, newProvider func(t testing.TB, url, model string, transport http.RoundTripper) providers.Provider) {
	t.Helper()
	for model, does := range fakeModels {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			server := NewFake(t)
			ctx, cancel := context.WithTimeout(t.Context(), patienceFor(model))
			defer cancel()
			s := Suite{Input: json.RawMessage(`{"messages":[{"role":"user","content":"Summarise."}]}`), Secret: "no secret here"}
			outcome := s.execute(ctx, t, newProvider(t, server.URL, model, transport(t)), providers.NewWire(nil))
			wants, known := fakeWants[model]
			require.True(t, known)
			wants.check(t, outcome)
			require.Equal(t, 1, server.Creates(), "exactly one create")
			if outcome.Kind != providers.Succeeded {
				return
			}
			var result struct {
				Content  string          `json:"content"`
				Finish   string          `json:"finish_reason"`
				Usage    json.RawMessage `json:"usage"`
				Model    string          `json:"model"`
				Response json.RawMessage `json:"response"`
			}
			require.NoError(t, json.Unmarshal(outcome.Result, &result))
			require.Equal(t, does.text, result.Content, "nothing is repaired")
			require.NotEmpty(t, result.Finish)
			require.NotEmpty(t, result.Usage)
			require.Contains(t, result.Model, "fake")
			require.NotEmpty(t, result.Response)
		})
	}
}
