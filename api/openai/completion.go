package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"onejob/jobs"
)

// completionOf is a succeeded job's result as a chat.completion: what the
// provider sent where that is one, untouched, so that tool calls, refusals and
// usage come through; else one built around the result.
func completionOf(job *jobs.Job) ([]byte, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(job.Result, &members) != nil {
		members = nil // a list, a text, a number
	}
	switch {
	case isCompletion(members["response"]):
		return members["response"], nil
	case isCompletion(job.Result):
		return job.Result, nil
	case isAnswer(members):
		return build(job, members)
	}
	content, err := asText(job.Result)
	if err != nil {
		return nil, err
	}
	return build(job, map[string]json.RawMessage{"content": content})
}

// isCompletion tells whether raw has choices with a message each.
func isCompletion(raw json.RawMessage) bool {
	var c struct {
		Choices []struct {
			Message map[string]json.RawMessage `json:"message"`
		} `json:"choices"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &c) != nil {
		return false
	}
	for _, choice := range c.Choices {
		if choice.Message == nil {
			return false
		}
	}
	return len(c.Choices) > 0
}

// answerMembers are those of a result of an AI type (design §8).
var answerMembers = []string{"content", "output", "finish_reason", "usage", "model", "response"}

// isAnswer tells whether a result is one of an AI type. An object with members
// of its own besides is not: they would be lost.
func isAnswer(members map[string]json.RawMessage) bool {
	for name := range members {
		if !slices.Contains(answerMembers, name) {
			return false
		}
	}
	_, ok := members["content"]
	return ok
}

// built is a chat.completion of our making.
type built struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []builtChoice   `json:"choices"`
	Usage   json.RawMessage `json:"usage,omitempty"`
}

type builtChoice struct {
	Index        int          `json:"index"`
	Message      builtMessage `json:"message"`
	Logprobs     *struct{}    `json:"logprobs"`
	FinishReason string       `json:"finish_reason"`
}

type builtMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Refusal   *string         `json:"refusal"`
	ToolCalls []toolCall      `json:"tool_calls,omitempty"`
}

func build(job *jobs.Job, answer map[string]json.RawMessage) ([]byte, error) {
	c := built{
		ID: "chatcmpl-" + job.ID, Object: "chat.completion", Created: job.EndedAt.Go().Unix(),
		Model: stringOr(answer["model"], job.Route), Usage: usageOf(answer["usage"]),
	}
	content := answer["content"]
	if !null(content) {
		var err error
		if content, err = asText(content); err != nil {
			return nil, err
		}
	}
	c.Choices = []builtChoice{{
		Message:      builtMessage{Role: "assistant", Content: content, ToolCalls: toolCallsOf(answer["response"])},
		FinishReason: stringOr(answer["finish_reason"], "stop"),
	}}
	return encode(c)
}

// asText is raw as the JSON string a message's content must be: a text is itself,
// anything else is shown as JSON.
func asText(raw json.RawMessage) (json.RawMessage, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && !null(raw) {
		return raw, nil
	}
	text, err := encode(string(raw))
	if err != nil {
		return nil, fmt.Errorf("show a result as text: %w", err)
	}
	return text, nil
}

func stringOr(raw json.RawMessage, otherwise string) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil || s == "" {
		return otherwise
	}
	return s
}

func null(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
