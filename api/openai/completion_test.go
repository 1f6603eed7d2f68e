package openai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// ended is a job that has succeeded with a result.
func ended(result string) *jobs.Job {
	return &jobs.Job{
		ID: "job_1", Route: "chat", State: jobs.Succeeded, EndedAt: jobs.Time(1_700_000_000_123),
		Result: json.RawMessage(result), CompletedBy: 1, Attempts: []jobs.Attempt{{Number: 1, State: jobs.AttemptSucceeded}},
	}
}

func TestCompletionOf(t *testing.T) {
	t.Parallel()
	around := func(model, message, finish, usage string) string {
		return `{"id":"chatcmpl-job_1","object":"chat.completion","created":1700000000,"model":"` + model +
			`","choices":[{"index":0,"message":{"role":"assistant",` + message + `},"logprobs":null,"finish_reason":"` + finish + `"}]` + usage + `}`
	}
	const theirs = `{"id":"x","choices":[{"message":{"role":"assistant","content":null,"refusal":"No.","odd":1.0e0},"finish_reason":"stop"}],"odd":{"a":1.10}}`
	tests := map[string]struct{ result, want string }{
		"a chat.completion, as it was sent": {
			`{"content":null,"finish_reason":"stop","usage":null,"model":"m","response":` + theirs + `}`, theirs,
		},
		"a result that is one itself": {theirs, theirs},
		"a message of Anthropic's, with a tool": {
			`{"content":"I look.","finish_reason":"tool_calls","usage":{"input_tokens":3,"output_tokens":4,"cache_read_input_tokens":5},"model":"claude",
			  "response":{"type":"message","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"find","input":{"q":1.10}}]}}`,
			around("claude", `"content":"I look.","refusal":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"find","arguments":"{\"q\":1.10}"}}]`,
				"tool_calls", `,"usage":{"completion_tokens":4,"prompt_tokens":8,"total_tokens":12}`),
		},
		"a response of OpenAI's, with tools": {
			`{"content":null,"finish_reason":"tool_calls","usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7},"model":"gpt-5",
			  "response":{"output":[{"type":"reasoning","id":"rs_1","content":[]},
			    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"find","arguments":"{\"q\": 1}"},
			    {"type":"custom_tool_call","id":"ct_1","call_id":"call_2","name":"run","input":"ls <x>"}]}}`,
			around("gpt-5", `"content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"find","arguments":"{\"q\": 1}"}},{"id":"call_2","type":"custom","custom":{"name":"run","input":"ls <x>"}}]`,
				"tool_calls", `,"usage":{"completion_tokens":4,"prompt_tokens":3,"total_tokens":7}`),
		},
		"a prediction of Replicate's": {
			`{"content":["https://x/1.png"],"finish_reason":"stop","usage":{"predict_time":1.5},"model":"flux","response":{"id":"p","output":["https://x/1.png"]}}`,
			around("flux", `"content":"[\"https://x/1.png\"]","refusal":null`, "stop", ""),
		},
		"usage with its names already": {
			`{"content":"a","finish_reason":"length","usage":{"prompt_tokens":1,"total_tokens":1}}`,
			around("chat", `"content":"a","refusal":null`, "length", `,"usage":{"prompt_tokens":1,"total_tokens":1}`),
		},
		"content alone":            {`{"content":"a <b> \u00e9"}`, around("chat", `"content":"a <b> \u00e9","refusal":null`, "stop", "")},
		"content among other data": {`{"content":"a","title":"b"}`, around("chat", `"content":"{\"content\":\"a\",\"title\":\"b\"}","refusal":null`, "stop", "")},
		"other data":               {`{"page":"<1>","n":9007199254740993}`, around("chat", `"content":"{\"page\":\"<1>\",\"n\":9007199254740993}","refusal":null`, "stop", "")},
		"a text":                   {`"printed"`, around("chat", `"content":"printed","refusal":null`, "stop", "")},
		"a list":                   {`[1,"a"]`, around("chat", `"content":"[1,\"a\"]","refusal":null`, "stop", "")},
		"null":                     {`null`, around("chat", `"content":"null","refusal":null`, "stop", "")},
		"choices without messages": {`{"choices":[{"text":"a"}]}`, around("chat", `"content":"{\"choices\":[{\"text\":\"a\"}]}","refusal":null`, "stop", "")},
		"no choices":               {`{"choices":[]}`, around("chat", `"content":"{\"choices\":[]}","refusal":null`, "stop", "")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := completionOf(ended(test.result))
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}
