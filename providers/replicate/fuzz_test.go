package replicate

import (
	"testing"

	"onejob/providers"
	"onejob/providers/providertest"
)

// FuzzAnswer: whatever Replicate answers or reports is an outcome.
func FuzzAnswer(f *testing.F) {
	p := &provider{config: providers.Config{BaseURL: "https://api.replicate.com/v1", Model: "a/b"}}
	providertest.FuzzAnswers(f, []int{200, 429}, []string{
		`{"id":"p1","status":"succeeded","output":["a","b"],"metrics":{"predict_time":1}}`, `{"id":"p1","status":"processing"}`, `{"status":"failed","error":"no"}`,
		`{"detail":"Request was throttled. Your rate limit resets in ~30s."}`, `{"detail":[{"msg":"m"}]}`, `{"id":7}`, `{"status":"canceled"}`,
	}, func(t testing.TB, a providers.Answer) {
		providertest.Reportable(t, p.understand(a))
		providertest.Reportable(t, Report(a.Body))
		if refusal, _ := envelope(a); refusal.RetryAfter < 0 {
			t.Fatalf("%q asks for %s", a.Body, refusal.RetryAfter)
		}
		_ = markOf(string(a.Body))
	})
}
