package door

import (
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// secondMS is the patience of the clients here, in ms. The provider takes five.
const secondMS = 1000

// isWhole checks that everything the provider sent came through.
func isWhole(t *testing.T, got outcome) {
	t.Helper()
	require.NotNil(t, got.Completion, "%+v", got.Failures)
	c := got.Completion
	require.Equal(t, "chatcmpl-42", c.ID)
	require.Equal(t, "gpt-5-2026", c.Model)
	require.EqualValues(t, 1700000000, c.Created)
	require.Len(t, c.Choices, 1)
	require.Equal(t, "tool_calls", c.Choices[0].FinishReason)
	message := c.Choices[0].Message
	require.Equal(t, reply, message.Content)
	require.Len(t, message.ToolCalls, 2)
	require.Equal(t, "call_1", message.ToolCalls[0].ID)
	require.Equal(t, "weather", message.ToolCalls[0].Function.Name)
	require.Equal(t, arguments1, message.ToolCalls[0].Function.Arguments)
	require.Equal(t, "call_2", message.ToolCalls[1].ID)
	require.Equal(t, "now", message.ToolCalls[1].Function.Name)
	require.Equal(t, arguments2, message.ToolCalls[1].Function.Arguments)
	require.EqualValues(t, 33, c.Usage.TotalTokens)
}

func withTools(params map[string]any) map[string]any {
	var tools []any
	for _, name := range []string{"weather", "now"} {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": name, "parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		}})
	}
	params["tools"] = tools
	return params
}

// A client of one second's patience, with its retries as they are, asks again
// with the key it has set: it is one job, the provider was asked once, and the
// answer arrives.
func TestImpatientClients(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c caller) {
		w := newWorld(t, "1m")
		const text = "What is the weather?"
		got := c.ask(t, request{Base: w.base, Key: "k", Timeout: secondMS, Calls: 20, Params: withTools(asking("chat", text))})
		isWhole(t, got)
		w.once("k", text)
		require.NotEmpty(t, got.Failures, "the client was patient after all")
		for _, f := range got.Failures {
			require.Equal(t, "timeout", f.Name, "%+v", f)
		}
		retries := w.retries()
		if c.name == node { // asks three times a call
			require.GreaterOrEqual(t, len(retries), 4)
			require.Equal(t, []string{"0", "1", "2", "0"}, retries[:4])
		} else { // its own time-out is the end of a call
			require.Len(t, retries, len(got.Failures)+1)
		}
	})
}

// A stream begins at once, so the client for JavaScript, which waits for the
// headers only, needs one request; the one for Go gives the whole stream a second.
func TestImpatientStreams(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c caller) {
		w := newWorld(t, "1m")
		const text = "What is the weather?"
		params := withTools(asking("chat", text))
		params["stream_options"] = map[string]any{"include_usage": true}
		got := c.ask(t, request{Base: w.base, Key: "k", Timeout: secondMS, Calls: 20, Stream: true, Params: params})
		isWhole(t, got)
		w.once("k", text)
		if c.name == node {
			require.Empty(t, got.Failures)
		}
		require.Len(t, w.retries(), len(got.Failures)+1)

		// The same intent without a stream is the same job.
		delete(params, "stream_options")
		isWhole(t, c.ask(t, request{Base: w.base, Key: "k", Calls: 1, Params: params}))
		w.once("k", text)
	})
}

// When the door has waited long enough it says so, and the clients' own retries
// do the rest: one call, one job, one create.
func TestDoorWaitIsOver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c caller) {
		w := newWorld(t, "1500ms")
		const text = "Are we there yet?"
		got := c.ask(t, request{Base: w.base, Key: "k", Calls: 1, Params: asking("chat", text)})
		isWhole(t, got)
		require.Empty(t, got.Failures)
		require.Equal(t, []string{"0", "1", "2"}, w.retries())
		w.once("k", text)
	})
}

// What these clients would send again by themselves, and may not.
func TestNotSentAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c caller) {
		w := newWorld(t, "1m")
		ask := func(key, model, text string, stream bool) failure {
			t.Helper()
			got := c.ask(t, request{Base: w.base, Key: key, Calls: 1, Stream: stream, Params: asking(model, text)})
			require.Nil(t, got.Completion)
			require.Len(t, got.Failures, 1)
			require.Equal(t, []string{"0"}, w.retries(), "it was sent again")
			return got.Failures[0]
		}
		unknown := ask("k", "hasty", "Be silent.", false)
		require.Equal(t, 504, unknown.Status)
		require.Equal(t, "outcome_unknown", unknown.Code)
		job := w.only("k")
		require.Equal(t, jobs.Unknown, job.State)
		require.Contains(t, unknown.Message, job.ID)

		conflict := ask("k", "hasty", "Say something else.", false)
		require.Equal(t, 409, conflict.Status)
		require.Equal(t, "idempotency_key_reused", conflict.Code)
		require.Contains(t, conflict.Message, job.ID)
		require.Equal(t, 1, w.provider.asked("Be silent."))
		require.Zero(t, w.provider.asked("Say something else."))

		// In a stream that has begun there is no status any more.
		require.Contains(t, ask("stream", "hasty", "Be silent again.", true).Message, "is unknown")
		require.Equal(t, 1, w.provider.asked("Be silent again."))

		missing := ask("", "chat", "No key.", false)
		require.Equal(t, 400, missing.Status)
		require.Equal(t, "idempotency_key_missing", missing.Code)
		require.Contains(t, missing.Message, "Idempotency-Key")
		require.Equal(t, 404, ask("m", "gpt-4o", "No route.", false).Status)
		require.Zero(t, w.provider.asked("No key."))
	})
}

func TestModels(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c caller) {
		w := newWorld(t, "1m")
		require.Equal(t, []string{"chat", "hasty"}, c.ask(t, request{Base: w.base, Calls: 1, List: true}).Models)
	})
}
