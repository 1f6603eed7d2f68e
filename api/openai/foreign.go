package openai

import (
	"encoding/json"
)

// What providers with another API than Chat Completions answer, in its terms.

// toolCall is a call the model asks for.
type toolCall struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"`
	Function *functionCall `json:"function,omitempty"`
	Custom   *customCall   `json:"custom,omitempty"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type customCall struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

// item is a piece of an answer: of output in OpenAI's Responses, of content in
// Anthropic's Messages.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     json.RawMessage `json:"input"`
}

// toolCallsOf finds the calls in what the provider sent; nil where there are none.
func toolCallsOf(response json.RawMessage) []toolCall {
	var calls []toolCall
	for _, name := range []string{"output", "content"} {
		for _, i := range itemsOf(response, name) {
			switch i.Type {
			case "function_call":
				calls = append(calls, toolCall{ID: i.CallID, Type: "function", Function: &functionCall{i.Name, i.Arguments}})
			case "custom_tool_call":
				calls = append(calls, toolCall{ID: i.CallID, Type: "custom", Custom: &customCall{i.Name, stringOr(i.Input, "")}})
			case "tool_use":
				calls = append(calls, toolCall{ID: i.ID, Type: "function", Function: &functionCall{i.Name, string(i.Input)}})
			}
		}
	}
	return calls
}

// itemsOf reads a list of items; nil where the member is something else.
func itemsOf(response json.RawMessage, name string) []item {
	var members map[string]json.RawMessage
	var items []item
	if len(response) == 0 || json.Unmarshal(response, &members) != nil ||
		len(members[name]) == 0 || json.Unmarshal(members[name], &items) != nil {
		return nil
	}
	return items
}

// usageOf is usage with the names of Chat Completions; nil where the provider's
// figures are no tokens.
func usageOf(raw json.RawMessage) json.RawMessage {
	var u struct {
		Prompt *int64 `json:"prompt_tokens"`
		Input  *int64 `json:"input_tokens"`
		Output *int64 `json:"output_tokens"`
		// Anthropic counts these apart from input_tokens.
		Written int64 `json:"cache_creation_input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
	}
	if null(raw) || json.Unmarshal(raw, &u) != nil {
		return nil
	}
	if u.Prompt != nil {
		return raw
	}
	if u.Input == nil || u.Output == nil {
		return nil
	}
	prompt := *u.Input + u.Written + u.Read
	usage, err := encode(map[string]int64{
		"prompt_tokens": prompt, "completion_tokens": *u.Output, "total_tokens": prompt + *u.Output,
	})
	if err != nil {
		return nil
	}
	return usage
}
