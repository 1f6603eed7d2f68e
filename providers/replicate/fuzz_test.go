package replicate

import (
	"encoding/json"
	"testing"

	"onejob/providers"
)

// FuzzAnswer: whatever Replicate answers or reports is an outcome.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"id":"p1","status":"succeeded","output":["a","b"],"metrics":{"predict_time":1}}`, `{"id":"p1","status":"processing"}`, `{"status":"failed","error":"no"}`,
		`{"detail":"Request was throttled. Your rate limit resets in ~30s."}`, `{"detail":[{"msg":"m"}]}`, `{"id":7}`, `[]`, ``, "\xff", `{"status":"canceled"}`,
	} {
		f.Add(200, []byte(seed))
		f.Add(429, []byte(seed))
	}
	p := &provider{config: providers.Config{BaseURL: "https://api.replicate.com/v1", Model: "a/b"}}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a := providers.Answer{Status: status, Body: body}
		mustBeOutcome(t, p.understand(a))
		mustBeOutcome(t, Report(body))
		if refusal, _ := envelope(a); refusal.RetryAfter < 0 {
			t.Fatalf("%q asks for %s", body, refusal.RetryAfter)
		}
		_ = markOf(string(body))
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
