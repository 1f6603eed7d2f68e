package openai

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

// newBackground makes a provider of the Responses API.
func newBackground(t testing.TB, c providers.Config) providers.Provider {
	t.Helper()
	c.API = "responses"
	p, err := New(c)
	require.NoError(t, err)
	return p
}

// response is one as the API sends it; the members of other, `,"name":value…`, go
// over its own.
func response(status, other string) string {
	members := map[string]json.RawMessage{}
	for _, object := range []string{`{"id":"resp_1","object":"response","created_at":1,"background":true,"model":"m-1",
		"error":null,"incomplete_details":null,"instructions":null,"metadata":{"attempt":"job_1-a2"},
		"output":[{"id":"rs_1","type":"reasoning","summary":[]},
			{"id":"msg_1","type":"message","status":"completed","role":"assistant",
			"content":[{"type":"output_text","text":"hi","annotations":[]},{"type":"output_text","text":" there","annotations":[]}]}],
		"usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}`, `{"status":"` + status + `"` + other + `}`} {
		if err := json.Unmarshal([]byte(object), &members); err != nil {
			panic(err)
		}
	}
	raw, err := providers.Encode(members)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestResponses_Request(t *testing.T) {
	t.Parallel()
	got := make(chan *providertest.Exchange, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		got <- x
		return x.Reply(200, response("queued", ""), "Content-Type: application/json")
	})
	c := testConfig(server.URL, transport(t))
	c.Options = map[string]any{"temperature": 0, "metadata": map[string]any{"team": "x", "attempt": "forged"}}
	p := newBackground(t, c)
	call := newCall()
	call.Params = json.RawMessage(`{"max_output_tokens":5,"stream":true,"background":false,"store":false}`)
	call.Input = json.RawMessage(`{"messages":[{"role":"system","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"https://h/i.png","detail":"low"}},{"type":"input_file","file_id":"f1"}]},
		{"role":"assistant","content":[{"type":"text","text":"A press."}]},
		{"type":"function_call_output","call_id":"c1","output":"1"}]}`)
	var stored []string
	call.Accept = func(_ context.Context, handle string) error {
		stored = append(stored, handle)
		return errors.New("the store is away")
	}
	o := p.Execute(t.Context(), call)
	require.Equal(t, providers.Accepted, o.Kind, o.Message)
	require.Equal(t, "resp_1", o.Handle)
	require.Equal(t, providers.EffectUnknown, o.Effect)
	require.Equal(t, []string{"resp_1"}, stored)

	x := <-got
	require.Equal(t, "POST /v1/responses", x.Request.Method+" "+x.Request.URL.Path)
	require.Equal(t, "job_1-a2", x.Request.Header.Get("X-Onejob-Attempt"))
	require.JSONEq(t, `{"model":"m-1","background":true,"store":true,"temperature":0,"max_output_tokens":5,
		"metadata":{"team":"x","attempt":"job_1-a2"},
		"input":[{"role":"system","content":"Be brief."},
			{"role":"user","content":[{"type":"input_text","text":"What is it?"},{"type":"input_image","image_url":"https://h/i.png","detail":"low"},{"type":"input_file","file_id":"f1"}]},
			{"role":"assistant","content":[{"type":"output_text","text":"A press."}]},
			{"type":"function_call_output","call_id":"c1","output":"1"}]}`, string(x.Body))
	var params sdk.ResponseNewParams
	require.NoError(t, json.Unmarshal(x.Body, &params), "the SDK's own type reads it")
	require.True(t, params.Background.Value)
	require.Equal(t, "job_1-a2", params.Metadata["attempt"])
}

func TestResponses_InvalidInput(t *testing.T) {
	t.Parallel()
	p := newBackground(t, testConfig("http://127.0.0.1:1", nil))
	for input, says := range map[string]string{
		`{}`:               "at least one message",
		`{"messages":[7]}`: "list of objects",
		`{"messages":[{"role":"tool","content":"x"}]}`:                     "function_call_output",
		`{"messages":[{"role":"assistant","tool_calls":[]}]}`:              "function_call_output",
		`{"messages":[{"role":"user","content":[7]}]}`:                     "list of parts",
		`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`:  "image_url must be",
		`{"messages":[{"role":"user","content":"x"}],"instructions":"hi"}`: "input.instructions",
	} {
		call := newCall()
		call.Input = json.RawMessage(input)
		o := p.Execute(t.Context(), call)
		require.Equal(t, providers.ReasonRequestInvalid, o.Reason, input)
		require.Contains(t, o.Message, says)
	}
	call := newCall()
	call.Params = json.RawMessage(`{"input":"x"}`)
	require.Contains(t, p.Execute(t.Context(), call).Message, "params.input")
}

func TestResponses_Statuses(t *testing.T) {
	t.Parallel()
	const noOutput = `,"output":[]`
	for _, c := range []struct {
		name, body string
		kind       providers.Kind
		reason     string // of both, unless create differs
		create     string
		retry      bool
		finish     string
		content    string
	}{
		{name: "queued", body: response("queued", ""), kind: providers.Accepted},
		{name: "in progress", body: response("in_progress", ""), kind: providers.Accepted},
		{name: "completed", body: response("completed", ""), kind: providers.Succeeded, finish: "stop", content: `"hi there"`},
		{name: "completed with a call", body: response("completed", `,"output":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}]`), kind: providers.Succeeded, finish: "tool_calls", content: "null"},
		{name: "too long", body: response("incomplete", `,"incomplete_details":{"reason":"max_output_tokens"}`), kind: providers.Succeeded, finish: "length", content: `"hi there"`},
		{name: "stopped otherwise", body: response("incomplete", `,"incomplete_details":{"reason":"max_messages"}`), kind: providers.Succeeded, finish: "max_messages", content: `"hi there"`},
		{name: "incomplete without a reason", body: response("incomplete", ""), kind: providers.Succeeded, finish: "incomplete", content: `"hi there"`},
		{name: "filtered", body: response("incomplete", `,"incomplete_details":{"reason":"content_filter"}`), kind: providers.Failed, reason: providers.ReasonRefused},
		{name: "refused", body: response("completed", `,"output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]}]`), kind: providers.Failed, reason: providers.ReasonRefused},
		{name: "failed", body: response("failed", `,"error":{"code":"server_error","message":"crash"}`+noOutput), kind: providers.Failed, reason: providers.ReasonFailedAtProvider, retry: true},
		{name: "rate limited", body: response("failed", `,"error":{"code":"rate_limit_exceeded","message":"slow"}`), kind: providers.Failed, reason: providers.ReasonFailedAtProvider, retry: true},
		{name: "bad prompt", body: response("failed", `,"error":{"code":"invalid_prompt","message":"bad"}`), kind: providers.Failed, reason: providers.ReasonFailedAtProvider},
		{name: "policy", body: response("failed", `,"error":{"code":"image_content_policy_violation","message":"no"}`), kind: providers.Failed, reason: providers.ReasonRefused},
		{name: "cancelled, with partial output and no usage", body: response("cancelled", `,"usage":null`), kind: providers.Failed, reason: providers.ReasonFailedAtProvider},
		{name: "a new status", body: response("pondering", ""), kind: providers.Unknown, reason: providers.ReasonLookupFailed, create: providers.ReasonAnswerUnreadable},
		{name: "another object", body: completed, kind: providers.Unknown, reason: providers.ReasonLookupFailed, create: providers.ReasonAnswerUnreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := make(chan *providertest.Exchange, 2)
			server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
				got <- x
				return x.Reply(200, c.body, "Content-Type: application/json")
			})
			p := newBackground(t, testConfig(server.URL, transport(t)))
			created := p.Execute(t.Context(), newCall())
			found := p.(providers.Lookuper).Lookup(t.Context(), providers.Ref{AttemptID: "job_1-a2", Handle: "resp/1"})
			require.Equal(t, "POST /v1/responses", method(<-got))
			require.Equal(t, "GET /v1/responses/resp%2F1", method(<-got))
			for name, o := range map[string]providers.Outcome{"create": created, "look-up": found} {
				require.Equal(t, c.kind, o.Kind, "%s: %s", name, o.Message)
				require.Equal(t, c.retry, o.Retryable, name)
				require.NotContains(t, o.Message, "I cannot", "a message is never a payload")
				if c.kind != providers.Succeeded {
					continue
				}
				var result struct {
					Content json.RawMessage `json:"content"`
					Finish  string          `json:"finish_reason"`
					Model   string          `json:"model"`
					Usage   map[string]int  `json:"usage"`
					Whole   sdk.Response    `json:"response"`
				}
				require.NoError(t, json.Unmarshal(o.Result, &result))
				require.Equal(t, c.content, string(result.Content))
				require.Equal(t, c.finish, result.Finish)
				require.Equal(t, "m-1", result.Model)
				require.Equal(t, 4, result.Usage["total_tokens"])
				require.Equal(t, "resp_1", result.Whole.ID)
				require.JSONEq(t, `{"input_tokens":3,"output_tokens":1,"total_tokens":4}`, string(o.Usage))
			}
			require.Equal(t, c.reason, found.Reason)
			if c.create == "" {
				c.create = c.reason
			}
			require.Equal(t, c.create, created.Reason)
		})
	}
}

func method(x *providertest.Exchange) string {
	return x.Request.Method + " " + x.Request.URL.EscapedPath()
}

// A response is deleted in time, so that it is not there proves nothing.
func TestResponses_Expired(t *testing.T) {
	t.Parallel()
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		return x.Reply(404, `{"error":{"message":"Response with id 'resp_1' not found.","type":"invalid_request_error"}}`)
	})
	p := newBackground(t, testConfig(server.URL, transport(t))).(providers.Lookuper)
	o := p.Lookup(t.Context(), providers.Ref{AttemptID: "job_1-a2", Handle: "resp_1"})
	require.Equal(t, providers.Unknown, o.Kind)
	require.Equal(t, providers.ReasonLookupAbsent, o.Reason)
	require.Contains(t, o.Message, "does not prove")

	o = p.Lookup(t.Context(), providers.Ref{AttemptID: "job_1-a2"})
	require.Equal(t, providers.ReasonLookupFailed, o.Reason, "without the id there is no way to ask")
	require.Equal(t, 1, server.Requests())
}

func TestResponses_Cancel(t *testing.T) {
	t.Parallel()
	for status, ok := range map[int]bool{200: true, 400: true, 404: true, 409: true, 401: false, 429: false, 500: false, 302: false} {
		got := make(chan *providertest.Exchange, 1)
		server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
			got <- x
			return x.Reply(status, `{"error":{"message":"`+testKey+`"}}`)
		})
		p := newBackground(t, testConfig(server.URL, transport(t))).(providers.Canceler)
		err := p.Cancel(t.Context(), providers.Ref{AttemptID: "job_1-a2", Handle: "resp_1"})
		require.Equal(t, ok, err == nil, "%d: %v", status, err)
		if err != nil {
			require.NotContains(t, err.Error(), testKey)
		}
		require.Equal(t, "POST /v1/responses/resp_1/cancel", method(<-got))
		require.ErrorIs(t, p.Cancel(t.Context(), providers.Ref{AttemptID: "job_1-a2"}), providers.ErrNoHandle)
		require.Equal(t, 1, server.Requests())
	}
}

func TestAbilitiesFollowTheAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api            string
		store          bool
		looks, cancels bool
	}{{"", false, false, false}, {"chat", true, true, false}, {"responses", true, true, true}} {
		config := testConfig("http://h", nil)
		config.API = c.api
		if c.store {
			config.Options = map[string]any{"store": true}
		}
		p, err := New(config)
		require.NoError(t, err)
		_, looks := p.(providers.Lookuper)
		_, cancels := p.(providers.Canceler)
		require.Equal(t, c.looks, looks)
		require.Equal(t, c.cancels, cancels)
	}
}
