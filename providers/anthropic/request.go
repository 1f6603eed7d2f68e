package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"

	"onejob/providers"
)

// body builds the request: the job's messages, what they say as system, the
// configured model, the options with the job's params over them. Names are those
// of the Messages API: max_tokens, stop_sequences and the like.
func (p *provider) body(call *providers.Call) (json.RawMessage, error) {
	messages, err := messagesOf(call.Input)
	if err != nil {
		return nil, err
	}
	members, err := providers.Merge(p.config.Options, call.Params)
	if err != nil {
		return nil, err
	}
	if _, set := members["messages"]; set {
		return nil, errors.New("params.messages is not allowed; messages belong into input")
	}
	turns, system, err := split(messages)
	if err != nil {
		return nil, err
	}
	if members["messages"], err = providers.Encode(turns); err != nil {
		return nil, fmt.Errorf("encoding the messages: %w", err)
	}
	if members["system"], err = systemOf(members["system"], system); err != nil {
		return nil, err
	}
	if members["system"] == nil {
		delete(members, "system")
	}
	defaults := map[string]any{"model": p.config.Model, "max_tokens": DefaultMaxTokens}
	for name, value := range defaults {
		if _, set := members[name]; set {
			continue
		}
		if members[name], err = providers.Encode(value); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", name, err)
		}
	}
	members["stream"] = json.RawMessage("false")
	if p.stream {
		members["stream"] = json.RawMessage("true")
	}
	return providers.Encode(members)
}

// messagesOf takes the messages of an input. Members that would be dropped are
// refused; simulate is the script of another provider of the route.
func messagesOf(input json.RawMessage) ([]message, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(input, &members); err != nil || members == nil {
		return nil, errors.New("input must be an object with messages")
	}
	for name := range members {
		if name != "messages" && name != "simulate" {
			return nil, fmt.Errorf("input.%s is not known here; allowed is messages, settings go into params", name)
		}
	}
	var messages []message
	if err := json.Unmarshal(members["messages"], &messages); err != nil || len(messages) == 0 {
		return nil, errors.New("input.messages must be a list with at least one message")
	}
	return messages, nil
}

// systemOf joins what the options and the messages say as system: one text stays
// a string, several become a list of blocks, the options' first.
func systemOf(configured json.RawMessage, fromMessages []json.RawMessage) (json.RawMessage, error) {
	blocks, err := blocksOf("system", configured)
	if err != nil {
		return nil, err
	}
	blocks = append(blocks, fromMessages...)
	if len(blocks) == 0 {
		return nil, nil
	}
	var only struct {
		Type string
		Text *string
	}
	if len(blocks) == 1 && len(configured) == 0 && json.Unmarshal(blocks[0], &only) == nil && only.Type == "text" && only.Text != nil {
		return providers.Encode(*only.Text)
	}
	if len(fromMessages) == 0 {
		return configured, nil
	}
	return providers.Encode(blocks)
}
