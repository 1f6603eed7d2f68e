package anthropic

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

// sent makes an attempt and returns what arrived.
func sent(t *testing.T, change func(*providers.Config, *providers.Call)) *providertest.Exchange {
	t.Helper()
	got := make(chan *providertest.Exchange, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		got <- x
		return x.Reply(200, completed, "Content-Type: application/json")
	})
	c, call := testConfig(server.URL, transport(t)), newCall()
	change(&c, call)
	p, err := New(c)
	require.NoError(t, err)
	o := p.Execute(t.Context(), call)
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	return <-got
}

func TestRequest(t *testing.T) {
	t.Parallel()
	x := sent(t, func(c *providers.Config, call *providers.Call) {
		c.Options = map[string]any{"temperature": 0, "top_k": 7}
		c.Headers = map[string]string{"anthropic-beta": "b-1"}
		call.Params = json.RawMessage(`{"temperature":0.5,"stream":false}`)
	})
	require.Equal(t, "/v1/messages", x.Request.URL.Path)
	require.JSONEq(t, `{"messages":[{"role":"user","content":"Say hi."}],"model":"m-1","max_tokens":4096,
		"temperature":0.5,"top_k":7,"stream":true}`, string(x.Body))
	for name, value := range map[string]string{
		"X-Api-Key":          testKey,
		"Authorization":      "",
		"Idempotency-Key":    "",
		"X-Onejob-Attempt":   "job_1-a2",
		"X-Onejob-Job":       "job_1",
		"X-Onejob-Not-After": "2030-01-02T03:04:05.000Z",
		"Traceparent":        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"Content-Type":       "application/json",
		"Anthropic-Beta":     "b-1",
	} {
		require.Equal(t, value, x.Request.Header.Get(name), name)
	}
	require.Equal(t, []string{"2023-06-01"}, x.Request.Header.Values("Anthropic-Version"))
	x = sent(t, func(c *providers.Config, _ *providers.Call) {
		c.Headers = map[string]string{"anthropic-version": "2026-10-21"}
	})
	require.Equal(t, []string{"2026-10-21"}, x.Request.Header.Values("Anthropic-Version"))
	var params sdk.MessageNewParams
	require.NoError(t, json.Unmarshal(x.Body, &params), "the SDK's own type reads it")
	require.EqualValues(t, 4096, params.MaxTokens)
}

func TestBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options map[string]any
		input   string
		want    string // but for model, max_tokens and stream
	}{
		{"system moved", nil, `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"x"}]}`, `{"system":"Be brief.","messages":[{"role":"user","content":"x"}]}`},
		{"developer moved", nil, `{"messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"x"}]}`, `{"system":"Be brief.","messages":[{"role":"user","content":"x"}]}`},
		{"several", nil, `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"x"},{"role":"system","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}]}`, `{"system":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"x"}]}`},
		{"the options' first", map[string]any{"system": "z"}, `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"x"}]}`, `{"system":[{"type":"text","text":"z"},{"type":"text","text":"a"}],"messages":[{"role":"user","content":"x"}]}`},
		{"the options' alone", map[string]any{"system": "z"}, `{"messages":[{"role":"user","content":"x"}]}`, `{"system":"z","messages":[{"role":"user","content":"x"}]}`},
		{"blocks of its own", nil, `{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"document","source":{"type":"text"}}]}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"document","source":{"type":"text"}}]}]}`},
		{"images by URL and inline", nil, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://h/i.png"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]}`, `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://h/i.png"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}`},
		{"tokens", map[string]any{"max_tokens": 5}, `{"messages":[{"role":"user","content":"x"}],"simulate":{"a":{}}}`, `{"max_tokens":5,"messages":[{"role":"user","content":"x"}]}`},
		{"not streamed", map[string]any{"stream": false}, `{"messages":[{"role":"user","content":"x"}]}`, `{"stream":false,"messages":[{"role":"user","content":"x"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := sent(t, func(config *providers.Config, call *providers.Call) {
				config.Options = c.options
				call.Input = json.RawMessage(c.input)
			})
			got, want := map[string]any{}, map[string]any{"model": "m-1", "max_tokens": 4096.0, "stream": true}
			require.NoError(t, json.Unmarshal(x.Body, &got))
			require.NoError(t, json.Unmarshal([]byte(c.want), &want))
			require.Equal(t, want, got)
		})
	}
}

// What cannot be sent fails for certain, before anything leaves.
func TestInvalidInput(t *testing.T) {
	t.Parallel()
	p, err := New(testConfig("http://127.0.0.1:1", nil))
	require.NoError(t, err)
	for input, says := range map[string]string{
		`7`:                                 "object with messages",
		`{}`:                                "at least one message",
		`{"messages":[]}`:                   "at least one message",
		`{"messages":[{"content":"x"}]}`:    "has no role",
		`{"messages":[{}],"temperature":1}`: "input.temperature",
		`{"messages":[{"role":"system","content":"x"}]}`:                                                         "role user",
		`{"messages":[{"role":"tool","content":"x"}]}`:                                                           "the role must be",
		`{"messages":[{"role":"assistant","content":"x","tool_calls":[]}]}`:                                      "tool_use",
		`{"messages":[{"role":"user","content":7}]}`:                                                             "text or a list of blocks",
		`{"messages":[{"role":"user","content":[7]}]}`:                                                           "content block",
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png,x"}}]}]}`: "base64",
	} {
		call := newCall()
		call.Input = json.RawMessage(input)
		o := p.Execute(t.Context(), call)
		require.Equal(t, providers.ReasonRequestInvalid, o.Reason, input)
		require.Equal(t, providers.EffectNone, o.Effect)
		require.False(t, o.Retryable)
		require.Contains(t, o.Message, says)
	}
}

// The SDK's variables must not change where a create goes or in whose name.
func TestNothingFromTheEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-somebody")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Whose: somebody")
	x := sent(t, func(c *providers.Config, _ *providers.Call) { c.APIKey = "" })
	for name, values := range x.Request.Header {
		require.NotContains(t, values[0], "somebody", name)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*providers.Config){
		"base_url is missing":             func(c *providers.Config) { c.BaseURL = "" },
		"model is missing":                func(c *providers.Config) { c.Model = "" },
		"api is not known":                func(c *providers.Config) { c.API = "chat" },
		"options: messages":               func(c *providers.Config) { c.Options = map[string]any{"messages": 1} },
		"options: model":                  func(c *providers.Config) { c.Options = map[string]any{"model": "m"} },
		"options: stream must be true or": func(c *providers.Config) { c.Options = map[string]any{"stream": "no"} },
	} {
		c := testConfig("http://h", nil)
		change(&c)
		_, err := New(c)
		require.ErrorContains(t, err, says)
	}
	p, err := New(testConfig("http://h", nil))
	require.NoError(t, err)
	_, looks := p.(providers.Lookuper)
	_, cancels := p.(providers.Canceler)
	require.False(t, looks || cancels, "the API has neither")
}

func TestUnderstand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		status     int
		kind       providers.Kind
		reason     string
	}{
		{"whole", completed, 200, providers.Succeeded, ""},
		{"no stop reason", `{"type":"message","content":[],"stop_reason":null}`, 200, providers.Unknown, providers.ReasonAnswerUnreadable},
		{"another object", `{"id":"job_1","state":"queued"}`, 200, providers.Unknown, providers.ReasonAnswerUnreadable},
		{"accepted", `{"id":"x"}`, 202, providers.Unknown, providers.ReasonAcceptedUntraceable},
		{"refusal", `{"type":"message","content":[],"stop_reason":"refusal"}`, 200, providers.Failed, providers.ReasonRefused},
		{"error in a 200", refusal, 200, providers.Failed, providers.ReasonProviderError},
	} {
		o := understand(providers.Answer{Status: c.status, Body: []byte(c.body)}, false)
		require.Equal(t, c.kind, o.Kind, c.name)
		require.Equal(t, c.reason, o.Reason, c.name)
	}
	for stop, want := range map[string]string{
		"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "model_context_window_exceeded": "length",
		"tool_use": "tool_calls", "pause_turn": "pause_turn",
	} {
		require.Equal(t, want, finish(stop))
	}
}

// The id by which Anthropic's support finds the request is kept.
func TestRequestID(t *testing.T) {
	t.Parallel()
	o := execute(t, func(x *providertest.Exchange) bool {
		return x.Reply(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_9"}`, "request-id: req_9")
	})
	require.Equal(t, providers.ReasonOverloaded, o.Reason)
	require.Equal(t, "req_9", o.Evidence.RequestID)
	require.Equal(t, "HTTP 529 overloaded_error: Overloaded", o.Message)
}
