package openai

import (
	"testing"

	"onejob/providers"
	"onejob/providers/providertest"
)

// FuzzAnswer: whatever the provider answers is an outcome.
func FuzzAnswer(f *testing.F) {
	providertest.FuzzAnswers(f, []int{200, 500}, []string{
		`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}],"usage":{"total_tokens":1}}`,
		`{"choices":[]}`, `{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"length"}]}`, `{"error":{"message":"m","type":"t","code":null}}`,
		`{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}`, `{"status":"failed","error":{"code":"c","message":"m"}}`,
	}, func(t testing.TB, a providers.Answer) {
		for _, so := range []bool{false, true} {
			providertest.Reportable(t, understand(a, so))
			providertest.Reportable(t, understandResponse(a, so))
		}
		if refusal, _ := envelope(a); refusal.RetryAfter < 0 {
			t.Fatalf("%q asks for %s", a.Body, refusal.RetryAfter)
		}
	})
}

// FuzzStream: whatever comes as a stream is a whole answer, or none.
func FuzzStream(f *testing.F) {
	providertest.FuzzStreams(f, []string{
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"index\":-1,\"delta\":{\"tool_calls\":[{\"index\":9999999}]}}]}\n\n", "data: {\"error\":{\"message\":\"m\"}}\n\n",
	}, readStream, func(a providers.Answer) providers.Outcome { return understand(a, true) })
}
