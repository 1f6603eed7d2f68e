package openai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestUnderstand(t *testing.T) {
	t.Parallel()
	const message = `"message":{"role":"assistant","content":"hi"}`
	for _, c := range []struct {
		name, body string
		status     int
		kind       providers.Kind
		reason     string
	}{
		{"whole", completed, 200, providers.Succeeded, ""},
		{"length is a success", `{"choices":[{` + message + `,"finish_reason":"length"}]}`, 200, providers.Succeeded, ""},
		{"no choices", `{"choices":[]}`, 200, providers.Unknown, providers.ReasonAnswerUnreadable},
		{"another object", `{"id":"job_1","state":"queued"}`, 200, providers.Unknown, providers.ReasonAnswerUnreadable},
		{"no finish reason", `{"choices":[{` + message + `,"finish_reason":null}]}`, 200, providers.Unknown, providers.ReasonAnswerUnreadable},
		{"a list", `[]`, 200, providers.Unknown, providers.ReasonAnswerUnreadable},
		{"accepted", `{"id":"x"}`, 202, providers.Unknown, providers.ReasonAcceptedUntraceable},
		{"refusal", `{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}`, 200, providers.Failed, providers.ReasonRefused},
		{"filter", `{"choices":[{` + message + `,"finish_reason":"content_filter"}]}`, 200, providers.Failed, providers.ReasonRefused},
		{"error in a 200", `{"error":{"message":"crash"}}`, 200, providers.Failed, providers.ReasonProviderError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := understand(providers.Answer{Status: c.status, Body: []byte(c.body)}, false)
			require.Equal(t, c.kind, o.Kind, o.Message)
			require.Equal(t, c.reason, o.Reason)
			require.NotContains(t, o.Message, "cannot", "a message is never a payload")
		})
	}
}

func TestEnvelopes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]providers.Refusal{
		`{"error":{"message":"m","type":"t","param":null,"code":null}}`: {Message: "m", Code: "t"},
		`{"error":{"message":"m","type":"t","code":"c"}}`:               {Message: "m", Code: "c"},
		`{"error":{"message":"m","code":429}}`:                          {Message: "m", Code: "429"},
		`{"error":{"type":"t"}}`:                                        {Code: "t"},
		`{"error":"m"}`:                                                 {Message: "m"},
		`{"object":"error","message":"m","type":"t","code":400}`:        {Message: "m", Code: "400"},
		`{"error":{"message":"m","code":"content_filter"}}`:             {Message: "m", Code: "content_filter", Content: true},
	} {
		said, own := envelope(providers.Answer{Body: []byte(body)})
		require.True(t, own, body)
		require.Equal(t, want, said, body)
	}
	for _, body := range []string{``, `null`, `{}`, `{"error":null}`, `{"error":{}}`, `{"error":""}`, `{"error":[]}`, `{"detail":"m"}`, `<html>`} {
		_, own := envelope(providers.Answer{Body: []byte(body)})
		require.False(t, own, body)
	}
}

func TestContentFilterAs400(t *testing.T) {
	t.Parallel()
	o := execute(t, func(x *providertest.Exchange) bool {
		return x.Reply(400, `{"error":{"message":"filtered","code":"content_filter"}}`, "Content-Type: application/json")
	})
	require.Equal(t, providers.Failed, o.Kind)
	require.Equal(t, providers.ReasonRefused, o.Reason)
	require.Equal(t, providers.EffectNone, o.Effect)
}

// OpenAI's answer to a wrong key quotes part of it.
func TestUnauthorizedQuotesNothing(t *testing.T) {
	t.Parallel()
	o := execute(t, func(x *providertest.Exchange) bool {
		return x.Reply(401, `{"error":{"message":"Incorrect API key provided: sk-te****cdef","code":"invalid_api_key"}}`)
	})
	require.Equal(t, providers.ReasonUnauthorized, o.Reason)
	require.NotContains(t, o.Message, "sk-te")
}

// kept is a stored completion, whose content names its attempt.
func kept(attempt string) string {
	return `{"metadata":{"attempt":"` + attempt + `"},"choices":[{"index":0,"finish_reason":"stop","message":{"content":"` + attempt + `"}}]}`
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		status     int
		kind       providers.Kind
		reason     string
	}{
		{"found", `{"object":"list","data":[` + kept("job_1-a1") + `,` + kept("job_1-a2") + `]}`, 200, providers.Succeeded, ""},
		{"a list that was not filtered", `{"object":"list","data":[` + kept("job_1-a1") + `,` + completed + `]}`, 200, providers.Unknown, providers.ReasonLookupAbsent},
		{"a list that is too large", strings.Repeat(" ", providers.MaxResult+1), 200, providers.Unknown, providers.ReasonLookupFailed},
		{"absent", `{"object":"list","data":[]}`, 200, providers.Unknown, providers.ReasonLookupAbsent},
		{"not served", `{"error":{"message":"no"}}`, 404, providers.Unknown, providers.ReasonLookupFailed},
		{"broken", `{"error":{"message":"no"}}`, 500, providers.Unknown, providers.ReasonLookupFailed},
		{"no list", `7`, 200, providers.Unknown, providers.ReasonLookupFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			queries := make(chan string, 1)
			server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
				queries <- x.Request.Method + " " + x.Request.URL.Path + " " + x.Request.URL.Query().Get("metadata[attempt]")
				return x.Reply(c.status, c.body, "Content-Type: application/json")
			})
			config := testConfig(server.URL, transport(t))
			config.Options = map[string]any{"store": true}
			p, err := New(config)
			require.NoError(t, err)
			o := p.(providers.Lookuper).Lookup(t.Context(), providers.Ref{JobID: "job_1", AttemptID: "job_1-a2"})
			require.Equal(t, c.kind, o.Kind, o.Message)
			require.Equal(t, c.reason, o.Reason)
			require.NotContains(t, string(o.Result), "job_1-a1", "the answer of another attempt")
			require.Equal(t, "GET /v1/chat/completions job_1-a2", <-queries)
		})
	}
	p, err := New(testConfig("http://h", nil))
	require.NoError(t, err)
	_, looks := p.(providers.Lookuper)
	require.False(t, looks, "what is not kept cannot be looked up")
}
