package openai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	got := make(chan *providertest.Exchange, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		got <- x
		return x.Reply(200, completed, "Content-Type: application/json")
	})
	c := testConfig(server.URL, transport(t))
	c.Options = map[string]any{"temperature": 0, "seed": 7}
	c.Headers = map[string]string{"OpenAI-Organization": "org-1"}
	p, err := New(c)
	require.NoError(t, err)
	call := newCall()
	call.Params = json.RawMessage(`{"temperature":0.5}`)
	require.Equal(t, providers.Succeeded, p.Execute(t.Context(), call).Kind)

	x := <-got
	require.Equal(t, "/v1/chat/completions", x.Request.URL.Path)
	require.JSONEq(t, `{"messages":[{"role":"user","content":"Say hi."}],"model":"m-1","seed":7,"temperature":0.5,
		"stream":true,"stream_options":{"include_usage":true}}`, string(x.Body))
	for name, value := range map[string]string{
		"Authorization":       "Bearer " + testKey,
		"Idempotency-Key":     "job_1-a2",
		"X-Onejob-Attempt":    "job_1-a2",
		"X-Onejob-Job":        "job_1",
		"X-Onejob-Not-After":  "2030-01-02T03:04:05.000Z",
		"Traceparent":         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"Content-Type":        "application/json",
		"OpenAI-Organization": "org-1",
		"OpenAI-Project":      "",
	} {
		require.Equal(t, value, x.Request.Header.Get(name), name)
	}
}

// The SDK's variables must not change where a create goes or in whose name.
func TestNothingFromTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_API_KEY", "sk-of-somebody")
	t.Setenv("OPENAI_ORG_ID", "org-of-somebody")
	t.Setenv("OPENAI_PROJECT_ID", "project-of-somebody")
	headers := make(chan map[string][]string, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		headers <- x.Request.Header
		return x.Reply(200, completed, "Content-Type: application/json")
	})
	c := testConfig(server.URL, transport(t))
	c.APIKey = ""
	p, err := New(c)
	require.NoError(t, err)
	o := p.Execute(t.Context(), newCall())
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	for name, values := range <-headers {
		require.NotContains(t, values[0], "somebody", name)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options map[string]any
		params  string
		want    string
	}{
		{"plain", nil, ``, `{"stream":true,"stream_options":{"include_usage":true}}`},
		{"not streamed", map[string]any{"stream": false}, ``, `{"stream":false}`},
		{"a job cannot turn streaming off", nil, `{"stream":false,"stream_options":null}`, `{"stream":true,"stream_options":{"include_usage":true}}`},
		{"stream options of the operator", map[string]any{"stream_options": map[string]any{"x": 1}}, ``, `{"stream":true,"stream_options":{"x":1}}`},
		{"stored", map[string]any{"store": true}, ``, `{"stream":true,"stream_options":{"include_usage":true},"store":true,"metadata":{"attempt":"job_1-a2"}}`},
		{"stored, with metadata", map[string]any{"store": true, "metadata": map[string]any{"a": "b", "attempt": "x"}}, ``, `{"stream":true,"stream_options":{"include_usage":true},"store":true,"metadata":{"a":"b","attempt":"job_1-a2"}}`},
		{"another model", nil, `{"model":"m-2"}`, `{"model":"m-2","stream":true,"stream_options":{"include_usage":true}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := testConfig("http://127.0.0.1:1", nil)
			config.Options = c.options
			p, err := New(config)
			require.NoError(t, err)
			if s, ok := p.(stored); ok {
				p = s.provider
			}
			call := newCall()
			call.Params = json.RawMessage(c.params)
			raw, err := p.(*provider).body(call)
			require.NoError(t, err)
			var got, want map[string]any
			require.NoError(t, json.Unmarshal(raw, &got))
			require.NoError(t, json.Unmarshal([]byte(c.want), &want))
			if want["model"] == nil {
				want["model"] = "m-1"
			}
			delete(got, "messages")
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
		`null`:                              "object with messages",
		`{}`:                                "at least one message",
		`{"messages":[]}`:                   "at least one message",
		`{"messages":"hi"}`:                 "at least one message",
		`{"messages":[{}],"temperature":1}`: "input.temperature",
	} {
		call := newCall()
		call.Input = json.RawMessage(input)
		o := p.Execute(t.Context(), call)
		require.Equal(t, providers.ReasonRequestInvalid, o.Reason, input)
		require.Equal(t, providers.EffectNone, o.Effect)
		require.False(t, o.Retryable)
		require.Contains(t, o.Message, says)
	}
	call := newCall()
	call.Params = json.RawMessage(`{"messages":[]}`)
	require.Contains(t, p.Execute(t.Context(), call).Message, "params.messages")

	call = newCall()
	call.Input = json.RawMessage(`{"messages":[{"role":"user","content":"x"}],"simulate":{"a":{}}}`)
	raw, err := p.(*provider).body(call)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "simulate")
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*providers.Config){
		"base_url is missing":             func(c *providers.Config) { c.BaseURL = "" },
		"base_url must be":                func(c *providers.Config) { c.BaseURL = "h/v1" },
		"model is missing":                func(c *providers.Config) { c.Model = "" },
		"background must be true":         func(c *providers.Config) { c.API, c.Options = "responses", map[string]any{"background": false} },
		"store must be true with":         func(c *providers.Config) { c.API, c.Options = "responses", map[string]any{"store": false} },
		"stream must be false":            func(c *providers.Config) { c.API, c.Options = "responses", map[string]any{"stream": true} },
		"options: input":                  func(c *providers.Config) { c.API, c.Options = "responses", map[string]any{"input": "x"} },
		`"completions" is unknown`:        func(c *providers.Config) { c.API = "completions" },
		"options: messages":               func(c *providers.Config) { c.Options = map[string]any{"messages": 1} },
		"options: model":                  func(c *providers.Config) { c.Options = map[string]any{"model": "m"} },
		"options: stream must be true or": func(c *providers.Config) { c.Options = map[string]any{"stream": "no"} },
		"options: store must be true or":  func(c *providers.Config) { c.Options = map[string]any{"store": 1} },
	} {
		c := testConfig("http://h", nil)
		change(&c)
		_, err := New(c)
		require.ErrorContains(t, err, says)
	}
}
