package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	"onejob/providers"
)

// body builds the request: the job's messages, the configured model, the options
// with the job's params over them.
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
	if _, set := members["model"]; !set {
		if members["model"], err = providers.Encode(p.config.Model); err != nil {
			return nil, fmt.Errorf("encoding the model's name: %w", err)
		}
	}
	members["messages"] = messages
	p.streaming(members)
	if p.store {
		if members["metadata"], err = named(members["metadata"], call.AttemptID); err != nil {
			return nil, err
		}
	}
	return providers.Encode(members)
}

// streaming sets what decides how the answer comes; a job has no say in it.
func (p *provider) streaming(members map[string]json.RawMessage) {
	if !p.stream {
		delete(members, "stream_options") // refused without stream
		members["stream"] = json.RawMessage("false")
		return
	}
	members["stream"] = json.RawMessage("true")
	if _, set := p.config.Options["stream_options"]; !set {
		members["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	}
}

// messagesOf takes the messages of an input as they are. Members that would be
// dropped are refused; simulate is the script of another provider of the route.
func messagesOf(input json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(input, &members); err != nil || members == nil {
		return nil, errors.New("input must be an object with messages")
	}
	for name := range members {
		if name != "messages" && name != "simulate" {
			return nil, fmt.Errorf("input.%s is not known here; allowed is messages, settings go into params", name)
		}
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(members["messages"], &messages); err != nil || len(messages) == 0 {
		return nil, errors.New("input.messages must be a list with at least one message")
	}
	return members["messages"], nil
}

// named adds the attempt to the metadata a kept answer is found by.
func named(metadata json.RawMessage, attempt string) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &members); err != nil {
			return nil, errors.New("metadata must be an object")
		}
	}
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	raw, err := providers.Encode(attempt)
	if err != nil {
		return nil, fmt.Errorf("encoding the attempt's id: %w", err)
	}
	members["attempt"] = raw
	return providers.Encode(members)
}
