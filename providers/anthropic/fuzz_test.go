package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"onejob/providers"
)

// FuzzAnswer: whatever the provider answers is an outcome.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"type":"message","model":"m","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn","usage":{"output_tokens":1}}`, `{"content":[]}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, `{"content":[{"type":"tool_use","input":{}}],"stop_reason":"tool_use"}`,
		`[]`, ``, "\xff", `{"error":7}`, `null`,
	} {
		f.Add(200, []byte(seed))
		f.Add(500, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a := providers.Answer{Status: status, Body: body}
		for _, streamed := range []bool{false, true} {
			mustBeOutcome(t, understand(a, streamed))
		}
		if refusal, _ := envelope(a); refusal.RetryAfter < 0 {
			t.Fatalf("%q asks for %s", body, refusal.RetryAfter)
		}
	})
}

// FuzzStream: whatever comes as a stream is a whole answer, or none.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":99999999,\"delta\":{}}\n\n", "data: {\"type\":\"content_block_start\",\"index\":-1}\n\n",
		"data: \n\n", ": comment\n\n", "event: error\ndata: {}\n\n", "data", "\xff\n\n", "data: {\n\ndata: }\n\n", "", "event:\ndata: null\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		wire := providers.NewWire(func() error { return nil })
		a := readStream(&http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(body)),
		}, wire)
		if a.Err == nil && !a.Oversize {
			mustBeOutcome(t, understand(a, true))
		}
	})
}

// mustBeOutcome fails unless o is one that can be reported.
func mustBeOutcome(t *testing.T, o providers.Outcome) {
	t.Helper()
	if o.Kind == providers.Succeeded && !json.Valid(o.Result) {
		t.Fatalf("a result that is not JSON: %q", o.Result)
	}
	if (o.Kind == providers.Failed || o.Kind == providers.Unknown) && o.Reason == "" {
		t.Fatalf("an outcome without a reason: %+v", o)
	}
	if o.RetryAfter < 0 {
		t.Fatalf("it asks for %s", o.RetryAfter)
	}
}
