package openai

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
		`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}],"usage":{"total_tokens":1}}`,
		`{"choices":[]}`, `{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"length"}]}`, `{"error":{"message":"m","type":"t","code":null}}`,
		`{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}`, `{"status":"failed","error":{"code":"c","message":"m"}}`,
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
		for _, create := range []bool{false, true} {
			mustBeOutcome(t, understandResponse(a, create))
		}
		if refusal, _ := envelope(a); refusal.RetryAfter < 0 {
			t.Fatalf("%q asks for %s", body, refusal.RetryAfter)
		}
	})
}

// FuzzStream: whatever comes as a stream is a whole answer, or none.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"index\":-1,\"delta\":{\"tool_calls\":[{\"index\":9999999}]}}]}\n\n", "data: {\"error\":{\"message\":\"m\"}}\n\n",
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
