package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

// sent makes an attempt and returns what arrived, and what came of it.
func sent(
	t *testing.T, config func(*providers.Config), change func(*providers.Call), status int, body string,
) (*providertest.Exchange, providers.Outcome) {
	t.Helper()
	got := make(chan *providertest.Exchange, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		got <- x
		return x.Reply(status, body, "Content-Type: application/json")
	})
	c, call := testConfig(server.URL, transport(t)), newCall()
	config(&c)
	change(call)
	p, err := New(c)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	o := p.Execute(ctx, call)
	require.Equal(t, 1, server.Requests())
	return <-got, o
}

const starting = `{"id":"p1","status":"starting","urls":{"get":"https://elsewhere/p1"}}`

func TestCreate(t *testing.T) {
	t.Parallel()
	var stored []string
	x, o := sent(t, func(c *providers.Config) {
		c.Options = map[string]any{"steps": 5, "seed": 1}
		c.Headers = map[string]string{"X-Team": "press"}
	}, func(call *providers.Call) {
		call.Params = json.RawMessage(`{"steps":9}`)
		call.CallbackURL = "https://onejob.example/v1/callbacks/tok?x=1"
		call.Accept = func(_ context.Context, handle string) error {
			stored = append(stored, handle)
			return errors.New("the store is away")
		}
	}, 201, starting)
	require.Equal(t, providers.Accepted, o.Kind, o.Message)
	require.Equal(t, "p1", o.Handle)
	require.Equal(t, []string{"p1"}, stored)
	require.Equal(t, "POST /v1/models/acme/draw/predictions", x.Request.Method+" "+x.Request.URL.Path)
	require.Equal(t,
		`{"input":{"seed":9007199254740993,"steps":9,"text":"hi"},"webhook":"https://onejob.example/v1/callbacks/tok?attempt=job_1-a2&x=1","webhook_events_filter":["completed"]}`,
		string(x.Body))
	for name, value := range map[string]string{
		"Authorization":      "Bearer " + testKey,
		"X-Onejob-Attempt":   "job_1-a2",
		"X-Onejob-Not-After": "2030-01-02T03:04:05.000Z",
		"Content-Type":       "application/json",
		"X-Team":             "press",
		"Prefer":             "",
		"Idempotency-Key":    "",
	} {
		require.Equal(t, value, x.Request.Header.Get(name), name)
	}
	require.Regexp(t, `^(89|90)s$`, x.Request.Header.Get("Cancel-After"))
}

func TestModels(t *testing.T) {
	t.Parallel()
	version := strings.Repeat("0a", 32)
	for model, want := range map[string]string{
		"acme/draw":            `/v1/models/acme/draw/predictions {"input":{}}`,
		"acme/draw:" + version: `/v1/predictions {"input":{},"version":"` + version + `"}`,
		version:                `/v1/predictions {"input":{},"version":"` + version + `"}`,
	} {
		x, _ := sent(t, func(c *providers.Config) { c.Model = model },
			func(call *providers.Call) { call.Input = json.RawMessage(`{"simulate":{}}`) }, 201, starting)
		require.Equal(t, want, x.Request.URL.Path+" "+string(x.Body))
	}
}

func TestCancelAfter(t *testing.T) {
	t.Parallel()
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.Equal(t, "5s", cancelAfter(soon, time.Hour), "what Replicate takes at least")
	require.Equal(t, "600s", cancelAfter(t.Context(), 10*time.Minute))
	require.Empty(t, cancelAfter(t.Context(), 0))
}

// Cog's create is a PUT under our id, the same every time.
func TestCog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		callback, prefer, answer string
		status                   int
		kind                     providers.Kind
	}{
		{"", "", succeeded, 200, providers.Succeeded},
		{"https://onejob.example/cb", "respond-async", `{"id":"job_1-a2","status":"starting"}`, 202, providers.Accepted},
		{"", "", `{"id":"job_1-a2","status":"processing"}`, 202, providers.Accepted}, // a repetition joins it
	} {
		var bodies []string
		for range 2 {
			x, o := sent(t, func(config *providers.Config) {
				config.API, config.Model = apiCog, ""
				config.Options = map[string]any{"b": 1, "a": 2, "c": 3}
			}, func(call *providers.Call) { call.CallbackURL = c.callback }, c.status, c.answer)
			require.Equal(t, c.kind, o.Kind, o.Message)
			require.Equal(t, "PUT /v1/predictions/job_1-a2", x.Request.Method+" "+x.Request.URL.Path)
			require.Equal(t, c.prefer, x.Request.Header.Get("Prefer"))
			require.Empty(t, x.Request.Header.Get("Cancel-After"))
			bodies = append(bodies, string(x.Body))
		}
		require.Equal(t, bodies[0], bodies[1])
	}
}

// A server of Cog without a free place says nothing about the request.
func TestCogIsBusy(t *testing.T) {
	t.Parallel()
	for body, reason := range map[string]string{
		`{"detail":"Already running a prediction"}`:                  providers.ReasonBusy,
		`{"error":"Server at capacity - all slots busy"}`:            providers.ReasonBusy,
		`{"detail":"prediction exists with a different input"}`:      providers.ReasonRejected,
		`{"detail":[{"loc":["body","input"],"msg":"field needed"}]}`: providers.ReasonRejected,
	} {
		_, o := sent(t, func(c *providers.Config) { c.API = apiCog }, func(*providers.Call) {}, 409, body)
		require.Equal(t, reason, o.Reason, body)
		require.Equal(t, reason == providers.ReasonBusy, o.Retryable)
		require.Equal(t, providers.EffectNone, o.Effect)
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	x, _ := sent(t, func(*providers.Config) {}, func(call *providers.Call) {
		call.Input = json.RawMessage(`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Say <hi>."}]}`)
	}, 201, starting)
	require.Equal(t, `{"input":{"prompt":"Say <hi>.","system_prompt":"Be brief."}}`, string(x.Body))
	p, err := New(testConfig("http://127.0.0.1:1", nil))
	require.NoError(t, err)
	for input, says := range map[string]string{
		`7`:                 "must be an object",
		`null`:              "must be an object",
		`{"messages":"hi"}`: "list of messages",
		`{"messages":[{"role":"user","content":[{"type":"text"}]}]}`:                 "content is a text",
		`{"messages":[{"role":"assistant","content":"x"}]}`:                          "assistant",
		`{"messages":[{"role":"user","content":"x"},{"role":"user","content":"x"}]}`: "one message of role user",
		`{"messages":[{"role":"system","content":"x"}]}`:                             "one message of role user",
	} {
		call := newCall()
		call.Input = json.RawMessage(input)
		o := p.Execute(t.Context(), call)
		require.Equal(t, providers.ReasonRequestInvalid, o.Reason, input)
		require.Equal(t, providers.EffectNone, o.Effect)
		require.Contains(t, o.Message, says)
	}
}

// Whoever has the callback URL can report an end, so nobody is told.
func TestCallbackURLIsSecret(t *testing.T) {
	t.Parallel()
	const callback = "https://onejob.example/v1/callbacks/tok-0123456789"
	_, o := sent(t, func(*providers.Config) {}, func(call *providers.Call) { call.CallbackURL = callback }, 422,
		fmt.Sprintf(`{"detail":"webhook %s is no good"}`, callback))
	require.Equal(t, providers.ReasonRejected, o.Reason)
	require.NotContains(t, o.Message, "tok-0123456789")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]time.Duration{
		"Request was throttled. Your rate limit resets in ~30s.": 30 * time.Second,
		"resets in 2m.":  2 * time.Minute,
		"resets in 90ms": 90 * time.Millisecond,
		"resets in a while, or in 99999999999999999999s": 0,
		"slow down": 0,
	} {
		_, o := sent(t, func(*providers.Config) {}, func(*providers.Call) {}, 429, fmt.Sprintf(`{"detail":%q,"status":429}`, detail))
		require.Equal(t, providers.ReasonRateLimited, o.Reason)
		require.Equal(t, want, o.RetryAfter, detail)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*providers.Config){
		"base_url is missing": func(c *providers.Config) { c.BaseURL = "" },
		"model is missing":    func(c *providers.Config) { c.Model = "" },
		`"v2" is unknown`:     func(c *providers.Config) { c.API = "v2" },
	} {
		c := testConfig("http://h", nil)
		change(&c)
		_, err := New(c)
		require.ErrorContains(t, err, says)
	}
	for api, looks := range map[string]bool{"": true, apiCog: false} {
		c := testConfig("http://h", nil)
		c.API = api
		p, err := New(c)
		require.NoError(t, err)
		_, canLook := p.(providers.Lookuper)
		require.Equal(t, looks, canLook)
		_, cancels := p.(providers.Canceler)
		require.True(t, cancels)
	}
}
