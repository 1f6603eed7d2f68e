package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

const (
	began      = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`
	blockBegun = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	stop       = `{"type":"message_stop"}`
)

func text(s string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, s)
}

func ends(reason string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":7}}`, reason)
}

// stream names each event as its data does.
func stream(data ...string) string {
	var all []string
	for _, d := range data {
		var e event
		_ = json.Unmarshal([]byte(d), &e) // what is no JSON has no name
		all = append(all, e.Type, d)
	}
	return events(all...)
}

func TestStream(t *testing.T) {
	t.Parallel()
	o := execute(t, streamed(whole))
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	require.Equal(t, providers.EffectDone, o.Effect)
	require.True(t, o.Evidence.Complete)
	require.JSONEq(t, `{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":7}`, string(o.Usage))
	require.JSONEq(t, `{"content":"Hello <b>","finish_reason":"stop","model":"m-1",
		"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":7},
		"response":{"id":"msg_1","type":"message","role":"assistant","model":"m-1",
			"content":[{"type":"text","text":"Hello <b>"}],"stop_reason":"end_turn","stop_sequence":null,
			"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":7}}}`, string(o.Result))
}

func TestStreamOutcomes(t *testing.T) {
	t.Parallel()
	fails := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"no"}}`
	}
	for _, c := range []struct {
		name, body string
		kind       providers.Kind
		reason     string
	}{
		{"max_tokens", stream(began, blockBegun, text("He"), ends(`"max_tokens"`), stop), providers.Succeeded, ""},
		{"no content", stream(began, ends(`"end_turn"`), stop), providers.Succeeded, ""},
		{"events it does not know", stream(began, `{"type":"weather","fine":true}`, blockBegun, text("x"), ends(`"end_turn"`), stop), providers.Succeeded, ""},
		{"no message_stop", stream(began, blockBegun, text("He"), ends(`"end_turn"`)), providers.Unknown, providers.ReasonAnswerTruncated},
		{"no stop reason", stream(began, blockBegun, text("He"), stop), providers.Unknown, providers.ReasonAnswerTruncated},
		{"empty stop reason", stream(began, blockBegun, text("He"), ends(`""`), stop), providers.Unknown, providers.ReasonAnswerTruncated},
		{"empty", "", providers.Unknown, providers.ReasonAnswerTruncated},
		{"pings only", stream(`{"type":"ping"}`, `{"type":"ping"}`), providers.Unknown, providers.ReasonAnswerTruncated},
		{"message_stop only", stream(stop), providers.Unknown, providers.ReasonAnswerUnreadable},
		{"a delta for no block", stream(began, text("He")), providers.Unknown, providers.ReasonAnswerUnreadable},
		{"a block left out", stream(began, strings.Replace(blockBegun, `"index":0`, `"index":1`, 1)), providers.Unknown, providers.ReasonAnswerUnreadable},
		{"an end without a beginning", stream(ends(`"end_turn"`), stop), providers.Unknown, providers.ReasonAnswerUnreadable},
		{"a wild index", stream(began, strings.Replace(text("x"), `"index":0`, `"index":-1`, 1)), providers.Unknown, providers.ReasonAnswerUnreadable},
		{"refusal", stream(began, blockBegun, text("I ca"), ends(`"refusal"`), stop), providers.Failed, providers.ReasonRefused},
		{"overloaded", stream(began, fails("overloaded_error")), providers.Failed, providers.ReasonOverloaded},
		{"api_error", stream(began, blockBegun, text("He"), fails("api_error")), providers.Failed, providers.ReasonProviderError},
		{"error after the stop reason", stream(began, ends(`"end_turn"`), fails("api_error"), stop), providers.Failed, providers.ReasonProviderError},
		{"rate limit", stream(fails("rate_limit_error")), providers.Failed, providers.ReasonRateLimited},
		{"bad request", stream(fails("invalid_request_error")), providers.Failed, providers.ReasonRejected},
		{"credentials", stream(fails("authentication_error")), providers.Failed, providers.ReasonUnauthorized},
		{"a time-out there", stream(began, fails("timeout_error")), providers.Unknown, providers.ReasonGatewayAnswer},
		{"an error it does not know", stream(fails("weather_error")), providers.Failed, providers.ReasonProviderError},
		{"an error that cannot be read", "event: error\ndata: oops\n\n", providers.Failed, providers.ReasonProviderError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := execute(t, streamed(c.body))
			require.Equal(t, c.kind, o.Kind, o.Message)
			require.Equal(t, c.reason, o.Reason)
			require.NotEqual(t, providers.EffectNone, o.Effect, "tokens may have been paid for")
		})
	}
}

// tools is a stream with everything a message can hold.
var tools = []string{
	began,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let "}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"me see"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[]}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"So"}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"a","document_index":0,"document_title":"t","start_char_index":0,"end_char_index":1}}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"add","input":{}}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 9007199"}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"254740993}"}}`,
	`{"type":"content_block_stop","index":2}`,
	ends(`"tool_use"`), stop,
}

// What is put together here is what the official SDK puts together.
func TestStreamAgreesWithTheSDK(t *testing.T) {
	t.Parallel()
	var theirs sdk.Message
	for _, data := range tools {
		var e sdk.MessageStreamEventUnion
		require.NoError(t, json.Unmarshal([]byte(data), &e))
		require.NoError(t, theirs.Accumulate(e))
	}
	o := execute(t, streamed(stream(tools...)))
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	var got struct {
		Content  string          `json:"content"`
		Finish   string          `json:"finish_reason"`
		Response json.RawMessage `json:"response"`
	}
	require.NoError(t, json.Unmarshal(o.Result, &got))
	require.JSONEq(t, theirs.RawJSON(), string(got.Response))
	require.Contains(t, string(got.Response), "9007199254740993", "numbers keep their digits")
	require.Equal(t, "So", got.Content)
	require.Equal(t, "tool_calls", got.Finish)
	var read sdk.Message
	require.NoError(t, json.Unmarshal(got.Response, &read), "and what it can read")
	require.Equal(t, sdk.StopReasonToolUse, read.StopReason)
	require.Equal(t, "add", read.Content[2].Name)
}

// Arguments that were cut off are kept as they came.
func TestToolCutOff(t *testing.T) {
	t.Parallel()
	o := execute(t, streamed(stream(began,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"add","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 9"}}`,
		ends(`"max_tokens"`), stop)))
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	require.Contains(t, string(o.Result), `"input":"{\"a\": 9"`)
	require.Contains(t, string(o.Result), `"content":null,"finish_reason":"length"`)
}

func TestStreamKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	o := execute(t, streamed(stream(began,
		`{"type":"content_block_start","index":0,"content_block":{"type":"poem","verse":"a","n":1}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"poem_delta","verse":"b","n":2}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","mood":"fine"},"usage":{"output_tokens":7}}`, stop)))
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	require.Contains(t, string(o.Result), `{"n":2,"type":"poem","verse":"ab"}`)
	require.Contains(t, string(o.Result), `"mood":"fine"`)
}

func TestOtherShapes(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]providertest.Script{
		"one piece": func(x *providertest.Exchange) bool {
			return x.Reply(200, completed, "Content-Type: application/json")
		},
		"a stream labelled text": func(x *providertest.Exchange) bool {
			return x.Reply(200, strings.ReplaceAll(whole, "Hello <b>", "hi"), "Content-Type: text/plain")
		},
	} {
		o := execute(t, script)
		require.Equal(t, providers.Succeeded, o.Kind, "%s: %s", name, o.Message)
	}
}

// A gigabyte of tokens is not taken in.
func TestEndlessStream(t *testing.T) {
	t.Parallel()
	piece := strings.Repeat(stream(text(strings.Repeat("x", 4000))), 100)
	sent := 0
	done := make(chan struct{})
	o := execute(t, func(x *providertest.Exchange) bool {
		defer close(done)
		ok := x.Write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + stream(began, blockBegun))
		for ; ok && sent < 1<<30; sent += len(piece) {
			ok = x.Write(piece)
		}
		return false
	})
	<-done
	require.Equal(t, providers.ReasonResultTooLarge, o.Reason, o.Message)
	require.Less(t, sent, providers.MaxResult+24<<20)
}
