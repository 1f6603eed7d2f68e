package openai

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"
)

// joined is what OpenAI's own client makes of the chunks.
func joined(t *testing.T, whole string, usage bool) sdk.ChatCompletion {
	t.Helper()
	chunks, err := chunksOf([]byte(whole), usage)
	require.NoError(t, err)
	var all sdk.ChatCompletionAccumulator
	for _, data := range chunks {
		var chunk sdk.ChatCompletionChunk
		require.NoError(t, json.Unmarshal(data, &chunk))
		require.Equal(t, "chat.completion.chunk", string(chunk.Object))
		require.True(t, all.AddChunk(chunk), "%s", data)
	}
	return all.ChatCompletion
}

// What a client puts together of the chunks is what the provider had sent.
func TestChunks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Grüße, 世界 👩‍👩‍👧 \"quoted\" <b>\n", 2000)
	quoted, err := json.Marshal(long)
	require.NoError(t, err)
	tests := map[string]string{
		"text":       `{"role":"assistant","content":"Good day.","refusal":null}`,
		"no text":    `{"role":"assistant","content":""}`,
		"a long one": `{"role":"assistant","content":` + string(quoted) + `}`,
		"a refusal":  `{"role":"assistant","content":null,"refusal":"No."}`,
		"tools": `{"role":"assistant","content":null,"tool_calls":[
			{"id":"call_1","type":"function","function":{"name":"find","arguments":"{\"q\": 1}"}},
			{"id":"call_2","type":"function","function":{"name":"long","arguments":` + string(quoted) + `}},
			{"id":"call_3","type":"function","function":{"name":"none","arguments":""}}]}`,
	}
	for name, message := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := `{"id":"c","created":7,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"message":` + message +
				`,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
			var want sdk.ChatCompletion
			require.NoError(t, json.Unmarshal([]byte(whole), &want))
			got := joined(t, whole, true)
			require.Equal(t, "c", got.ID)
			require.EqualValues(t, 7, got.Created)
			require.Equal(t, "m", got.Model)
			require.EqualValues(t, 3, got.Usage.TotalTokens)
			require.Len(t, got.Choices, 1)
			require.Equal(t, "stop", got.Choices[0].FinishReason)
			is, was := got.Choices[0].Message, want.Choices[0].Message
			require.Equal(t, was.Content, is.Content)
			require.Equal(t, was.Refusal, is.Refusal)
			require.Len(t, is.ToolCalls, len(was.ToolCalls))
			for i := range was.ToolCalls {
				require.Equal(t, was.ToolCalls[i].ID, is.ToolCalls[i].ID)
				require.Equal(t, was.ToolCalls[i].Type, is.ToolCalls[i].Type)
				require.Equal(t, was.ToolCalls[i].Function.Name, is.ToolCalls[i].Function.Name)
				require.Equal(t, was.ToolCalls[i].Function.Arguments, is.ToolCalls[i].Function.Arguments)
			}
		})
	}
}

// Several choices, and members nobody here knows: none is lost, none is doubled.
func TestChunksLoseNothing(t *testing.T) {
	t.Parallel()
	chunks, err := chunksOf([]byte(`{"id":"c","object":"chat.completion","citations":["u"],"usage":{"total_tokens":3},"choices":[
		{"index":1,"message":{"role":"assistant","content":"b","reasoning_content":"hm"},"finish_reason":"length","logprobs":{"content":[]}},
		{"message":{"role":"assistant","content":[{"type":"text"}],"tool_calls":{"odd":1}}}]}`), true)
	require.NoError(t, err)
	const all = `"id":"c","object":"chat.completion.chunk","usage":null}`
	want := []string{
		`{"choices":[{"delta":{"content":"","reasoning_content":"hm","role":"assistant"},"finish_reason":null,"index":1}],` + all,
		`{"choices":[{"delta":{"content":"b"},"finish_reason":null,"index":1}],` + all,
		`{"choices":[{"delta":{},"finish_reason":"length","index":1,"logprobs":{"content":[]}}],` + all,
		`{"choices":[{"delta":{"content":[{"type":"text"}],"role":"assistant","tool_calls":{"odd":1}},"finish_reason":null,"index":0}],` + all,
		`{"choices":[{"delta":{},"index":0}],"citations":["u"],` + all,
		`{"choices":[],"id":"c","object":"chat.completion.chunk","usage":{"total_tokens":3}}`,
	}
	require.Len(t, chunks, len(want))
	for i := range want {
		require.Equal(t, want[i], string(chunks[i]))
	}
}

// Usage is sent to who asked for it.
func TestChunksWithoutUsage(t *testing.T) {
	t.Parallel()
	const whole = `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"total_tokens":3}}`
	chunks, err := chunksOf([]byte(whole), false)
	require.NoError(t, err)
	for _, chunk := range chunks {
		require.NotContains(t, string(chunk), "usage")
	}
	require.Len(t, chunks, 3)
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", strings.Repeat("a", pieceSize), strings.Repeat("世", pieceSize), "a" + strings.Repeat("👩", 3*pieceSize)} {
		pieces := cut(text)
		require.Equal(t, text, strings.Join(pieces, ""))
		for _, piece := range pieces {
			require.NotEmpty(t, piece)
			require.LessOrEqual(t, len(piece), pieceSize)
			require.True(t, utf8.ValidString(piece))
		}
	}
}
