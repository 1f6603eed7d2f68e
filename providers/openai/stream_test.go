package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

const streamType = "Content-Type: text/event-stream; charset=utf-8"

func transport(t testing.TB) *providers.Transport {
	tr := providers.NewTransport(5 * time.Second)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func newCall() *providers.Call {
	return &providers.Call{
		JobID: "job_1", AttemptID: "job_1-a2", Try: 1, Input: json.RawMessage(testInput),
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		NotAfter:    time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		Wire:        providers.NewWire(nil),
	}
}

// execute makes one attempt at a server that plays script.
func execute(t *testing.T, script providertest.Script) providers.Outcome {
	t.Helper()
	server := providertest.NewServer(t, script)
	p, err := New(testConfig(server.URL, transport(t)))
	require.NoError(t, err)
	o := p.Execute(t.Context(), newCall())
	require.Equal(t, 1, server.Requests())
	return o
}

// events is a stream of the given data, each one event.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// delta is a chunk with one choice.
func delta(delta, finish string) string {
	return fmt.Sprintf(`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m-1",`+
		`"choices":[{"index":0,"delta":%s,"finish_reason":%s}],"usage":null}`, delta, finish)
}

const usage = `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[],` +
	`"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`

func streamed(body string) providertest.Script {
	return func(x *providertest.Exchange) bool { return x.Reply(200, body, streamType) }
}

func TestStream(t *testing.T) {
	t.Parallel()
	o := execute(t, streamed(": keep-alive\n\n"+events(
		delta(`{"role":"assistant","content":""}`, "null"),
		delta(`{"content":"He"}`, "null"),
		delta(`{"content":"llo <b>","reasoning_content":"hm"}`, "null"),
		delta(`{}`, `"stop"`),
		usage, "[DONE]")))
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	require.Equal(t, providers.EffectDone, o.Effect)
	require.True(t, o.Evidence.Complete)
	require.JSONEq(t, `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`, string(o.Usage))
	require.JSONEq(t, `{"content":"Hello <b>","finish_reason":"stop","model":"m-1",
		"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5},
		"response":{"id":"c1","object":"chat.completion","created":1,"model":"m-1",
			"choices":[{"index":0,"finish_reason":"stop",
				"message":{"role":"assistant","content":"Hello <b>","reasoning_content":"hm"}}],
			"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}}`, string(o.Result))
}

func TestStreamOutcomes(t *testing.T) {
	t.Parallel()
	text := delta(`{"content":"He"}`, "null")
	end := delta(`{}`, `"stop"`)
	for _, c := range []struct {
		name, body string
		kind       providers.Kind
		reason     string
		effect     providers.Effect
	}{
		{"no [DONE], finish reason seen", events(text, end), providers.Succeeded, "", providers.EffectDone},
		{"length", events(text, delta(`{}`, `"length"`), "[DONE]"), providers.Succeeded, "", providers.EffectDone},
		{"clean end without a finish reason", events(text), providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"[DONE] without a finish reason", events(text, "[DONE]"), providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"empty finish reason", events(text, delta(`{}`, `""`), "[DONE]"), providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"[DONE] only", events("[DONE]"), providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"empty", "", providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"comments only", ": hi\n\n: hi\n\n", providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"last event not ended", events(text) + "data: " + end, providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"garbage", events(text, "{oops"), providers.Unknown, providers.ReasonAnswerUnreadable, ""},
		{"second choice unfinished", events(end, `{"choices":[{"index":1,"delta":{"content":"x"}}]}`, "[DONE]"), providers.Unknown, providers.ReasonAnswerTruncated, ""},
		{"wild index", events(`{"choices":[{"index":99999999,"delta":{}}]}`), providers.Unknown, providers.ReasonAnswerUnreadable, ""},
		{"content filter", events(text, delta(`{}`, `"content_filter"`), "[DONE]"), providers.Failed, providers.ReasonRefused, providers.EffectDone},
		{"refusal", events(delta(`{"refusal":"I ca"}`, "null"), delta(`{"refusal":"nnot"}`, `"stop"`), "[DONE]"), providers.Failed, providers.ReasonRefused, providers.EffectDone},
		{"error", events(text, `{"error":{"message":"crash","type":"server_error"}}`), providers.Failed, providers.ReasonProviderError, providers.EffectUnknown},
		{"error after the finish reason", events(text, end, `{"error":{"message":"crash"}}`, "[DONE]"), providers.Failed, providers.ReasonProviderError, providers.EffectUnknown},
		{"error as an event", "event: error\ndata: {\"message\":\"crash\"}\n\n", providers.Failed, providers.ReasonProviderError, providers.EffectUnknown},
		{"rate limit", events(`{"error":{"message":"slow","code":"rate_limit_exceeded"}}`), providers.Failed, providers.ReasonRateLimited, providers.EffectUnknown},
		{"bad request", events(`{"error":{"message":"bad","type":"invalid_request_error"}}`), providers.Failed, providers.ReasonRejected, providers.EffectUnknown},
		{"a router's 502", events(text, `{"error":{"message":"upstream","code":502}}`), providers.Unknown, providers.ReasonGatewayAnswer, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := execute(t, streamed(c.body))
			require.Equal(t, c.kind, o.Kind, o.Message)
			require.Equal(t, c.reason, o.Reason)
			if c.effect != "" {
				require.Equal(t, c.effect, o.Effect)
			}
		})
	}
}

// The stream's own end is enough: a server that keeps the connection open after
// it, or breaks it, changes nothing.
func TestStreamEndsWithDone(t *testing.T) {
	t.Parallel()
	body := events(delta(`{"content":"hi"}`, `"stop"`), usage, "[DONE]")
	head := "HTTP/1.1 200 OK\r\n" + streamType + "\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, end := range map[string]func(*providertest.Exchange){
		"left open": func(x *providertest.Exchange) { x.Gone() },
		"cut":       func(*providertest.Exchange) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := execute(t, func(x *providertest.Exchange) bool {
				x.Write(head + fmt.Sprintf("%x\r\n%s\r\n", len(body), body))
				end(x)
				return false
			})
			require.Equal(t, providers.Succeeded, o.Kind, o.Message)
		})
	}
}

// A stream that breaks is unknown even if every token seems to be there.
func TestStreamCutBeforeDone(t *testing.T) {
	t.Parallel()
	body := events(delta(`{"content":"hi"}`, `"stop"`))
	o := execute(t, func(x *providertest.Exchange) bool {
		x.Write("HTTP/1.1 200 OK\r\n" + streamType + "\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n", len(body), body))
		return false
	})
	require.Equal(t, providers.Unknown, o.Kind, o.Message)
	require.Equal(t, providers.ReasonAnswerTruncated, o.Reason)
}

func TestToolCalls(t *testing.T) {
	t.Parallel()
	const want = `[{"id":"t1","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}},
		{"id":"t2","type":"function","function":{"name":"sub","arguments":"{}"}}]`
	for name, chunks := range map[string][]string{
		"as OpenAI sends them": {
			delta(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"add","arguments":""}}]}`, "null"),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}`, "null"),
			delta(`{"tool_calls":[{"index":1,"id":"t2","type":"function","function":{"name":"sub","arguments":"{}"}},{"index":0,"function":{"arguments":":1}"}}]}`, "null"),
		},
		"out of order": {
			delta(`{"tool_calls":[{"index":1,"id":"t2","function":{"name":"sub","arguments":"{}"}}]}`, "null"),
			delta(`{"tool_calls":[{"index":0,"id":"t1","function":{"name":"add","arguments":"{\"a\":1}"}}]}`, "null"),
		},
		"without an index": {
			delta(`{"tool_calls":[{"id":"t1","function":{"name":"add","arguments":"{\"a\""}}]}`, "null"),
			delta(`{"tool_calls":[{"function":{"arguments":":1}"}}]}`, "null"),
			delta(`{"tool_calls":[{"id":"t2","function":{"name":"sub","arguments":"{}"}}]}`, "null"),
		},
		"with the name repeated": {
			delta(`{"tool_calls":[{"index":0,"id":"t1","function":{"name":"add","arguments":"{\"a\""}}]}`, "null"),
			delta(`{"tool_calls":[{"index":0,"id":"t1","function":{"name":"add","arguments":":1}"}}]}`, "null"),
			delta(`{"tool_calls":[{"index":1,"id":"t2","function":{"name":"sub","arguments":"{}"}}]}`, "null"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := execute(t, streamed(events(append(chunks, delta(`{}`, `"tool_calls"`), "[DONE]")...)))
			require.Equal(t, providers.Succeeded, o.Kind, o.Message)
			var got struct {
				Content  json.RawMessage `json:"content"`
				Finish   string          `json:"finish_reason"`
				Response struct {
					Choices []struct {
						Message struct {
							Tools json.RawMessage `json:"tool_calls"`
						} `json:"message"`
					} `json:"choices"`
				} `json:"response"`
			}
			require.NoError(t, json.Unmarshal(o.Result, &got))
			require.Equal(t, "null", string(got.Content))
			require.Equal(t, "tool_calls", got.Finish)
			require.JSONEq(t, want, string(got.Response.Choices[0].Message.Tools))
		})
	}
}

func TestStreamKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	o := execute(t, streamed(events(
		`{"id":"c1","system_fingerprint":"f","choices":[{"index":0,"delta":{"content":"a","annotations":[1]},"logprobs":{"content":[{"token":"a"}]}}]}`,
		`{"id":"c1","x_vendor":{"n":9007199254740993},"choices":[{"index":0,"delta":{"content":"b"},"logprobs":{"content":[{"token":"b"}]},"finish_reason":"stop"}]}`,
		"[DONE]")))
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	for _, part := range []string{
		`"system_fingerprint":"f"`, `"x_vendor":{"n":9007199254740993}`, `"annotations":[1]`,
		`"logprobs":{"content":[{"token":"a"},{"token":"b"}]}`, `"content":"ab"`,
	} {
		require.Contains(t, string(o.Result), part)
	}
}

// A server that answers a stream request in one piece is understood, as is one
// that forgets to say that it streams.
func TestOtherShapes(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]providertest.Script{
		"one piece": func(x *providertest.Exchange) bool {
			return x.Reply(200, completed, "Content-Type: application/json")
		},
		"a stream labelled text": func(x *providertest.Exchange) bool {
			return x.Reply(200, events(delta(`{"content":"hi"}`, `"stop"`), "[DONE]"), "Content-Type: text/plain")
		},
	} {
		o := execute(t, script)
		require.Equal(t, providers.Succeeded, o.Kind, "%s: %s", name, o.Message)
		require.Contains(t, string(o.Result), `"content":"hi"`)
	}
}

// A gigabyte of tokens is not taken in.
func TestEndlessStream(t *testing.T) {
	t.Parallel()
	block := strings.Repeat(events(delta(`{"content":"`+strings.Repeat("x", 4000)+`"}`, "null")), 100)
	sent := 0
	done := make(chan struct{})
	o := execute(t, func(x *providertest.Exchange) bool {
		defer close(done)
		for ok := x.Write("HTTP/1.1 200 OK\r\n" + streamType + "\r\nConnection: close\r\n\r\n"); ok && sent < 1<<30; sent += len(block) {
			ok = x.Write(block)
		}
		return false
	})
	<-done
	require.Equal(t, providers.ReasonResultTooLarge, o.Reason, o.Message)
	require.Less(t, sent, providers.MaxResult+24<<20)
}
