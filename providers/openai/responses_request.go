package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"onejob/providers"
)

// responsesBody builds the request: the job's messages as input, the configured
// model, the options with the job's params over them, and the attempt's id in
// the metadata. Names are those of the Responses API: max_output_tokens, text …
func (p *provider) responsesBody(call *providers.Call) (json.RawMessage, error) {
	raw, err := messagesOf(call.Input)
	if err != nil {
		return nil, err
	}
	members, err := providers.Merge(p.config.Options, call.Params)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"input", "messages"} {
		if _, set := members[name]; set {
			return nil, fmt.Errorf("params.%s is not allowed; messages belong into input", name)
		}
	}
	if members["input"], err = inputItems(raw); err != nil {
		return nil, err
	}
	if _, set := members["model"]; !set {
		if members["model"], err = providers.Encode(p.config.Model); err != nil {
			return nil, fmt.Errorf("encoding the model's name: %w", err)
		}
	}
	if members["metadata"], err = named(members["metadata"], call.AttemptID); err != nil {
		return nil, err
	}
	// What makes a background response of it; a job has no say in it.
	members["background"], members["store"] = json.RawMessage("true"), json.RawMessage("true")
	delete(members, "stream")
	return providers.Encode(members)
}

// inputItems turns chat messages into input items. A text stays one; parts are
// named otherwise here. Items only the Responses API knows stay as they are.
func inputItems(messages json.RawMessage) (json.RawMessage, error) {
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(messages, &items); err != nil {
		return nil, errors.New("input.messages must be a list of objects")
	}
	for i, item := range items {
		var role string
		_ = json.Unmarshal(item["role"], &role)
		if role == "tool" || role == "function" || item["tool_calls"] != nil {
			return nil, fmt.Errorf("input.messages[%d]: tool calls must be function_call and function_call_output items here", i)
		}
		content := bytes.TrimSpace(item["content"])
		if len(content) == 0 || content[0] != '[' {
			continue
		}
		parts, err := inputParts(content, role)
		if err != nil {
			return nil, fmt.Errorf("input.messages[%d].content: %w", i, err)
		}
		item["content"] = parts
	}
	return providers.Encode(items)
}

func inputParts(content json.RawMessage, role string) (json.RawMessage, error) {
	var parts []map[string]json.RawMessage
	if err := json.Unmarshal(content, &parts); err != nil {
		return nil, errors.New("must be a text or a list of parts")
	}
	for _, part := range parts {
		var kind string
		_ = json.Unmarshal(part["type"], &kind)
		switch kind {
		case "text":
			part["type"] = json.RawMessage(`"input_text"`)
			if role == "assistant" {
				part["type"] = json.RawMessage(`"output_text"`)
			}
		case "image_url":
			var image map[string]json.RawMessage
			if err := json.Unmarshal(part["image_url"], &image); err != nil {
				return nil, errors.New("image_url must be an object with url")
			}
			part["type"], part["image_url"] = json.RawMessage(`"input_image"`), image["url"]
			if detail := image["detail"]; detail != nil {
				part["detail"] = detail
			}
		}
	}
	return providers.Encode(parts)
}
