package anthropic

import (
	"testing"

	"onejob/providers"
	"onejob/providers/providertest"
)

// FuzzAnswer: whatever the provider answers is an outcome.
func FuzzAnswer(f *testing.F) {
	providertest.FuzzAnswers(f, []int{200, 500}, []string{
		`{"type":"message","model":"m","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn","usage":{"output_tokens":1}}`, `{"content":[]}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, `{"content":[{"type":"tool_use","input":{}}],"stop_reason":"tool_use"}`,
	}, func(t testing.TB, a providers.Answer) {
		for _, streamed := range []bool{false, true} {
			providertest.Reportable(t, understand(a, streamed))
		}
		if refusal, _ := envelope(a); refusal.RetryAfter < 0 {
			t.Fatalf("%q asks for %s", a.Body, refusal.RetryAfter)
		}
	})
}

// FuzzStream: whatever comes as a stream is a whole answer, or none.
func FuzzStream(f *testing.F) {
	providertest.FuzzStreams(f, []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":99999999,\"delta\":{}}\n\n", "data: {\"type\":\"content_block_start\",\"index\":-1}\n\n",
	}, readStream, func(a providers.Answer) providers.Outcome { return understand(a, true) })
}
