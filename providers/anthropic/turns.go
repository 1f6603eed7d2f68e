package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"onejob/providers"
)

// message is one of the input's, as OpenAI and Anthropic write them. Other
// members are kept; those only OpenAI knows are refused.
type message map[string]json.RawMessage

// split takes the messages of role system and developer out, as content blocks:
// the Messages API has them apart. Their place among the others is lost.
func split(messages []message) (turns []message, system []json.RawMessage, err error) {
	for i, m := range messages {
		var role string
		if json.Unmarshal(m["role"], &role) != nil {
			return nil, nil, fmt.Errorf("input.messages[%d] has no role", i)
		}
		at := fmt.Sprintf("input.messages[%d].content", i)
		blocks, err := blocksOf(at, m["content"])
		if err != nil {
			return nil, nil, err
		}
		switch {
		case role == "system", role == "developer":
			system = append(system, blocks...)
			continue
		case role != "user" && role != "assistant":
			return nil, nil, fmt.Errorf("input.messages[%d]: the role must be system, developer, user or assistant", i)
		case m["tool_calls"] != nil, m["function_call"] != nil:
			return nil, nil, fmt.Errorf("input.messages[%d]: tool calls must be content blocks of type tool_use here", i)
		}
		turn, err := turnOf(m, blocks)
		if err != nil {
			return nil, nil, err
		}
		turns = append(turns, turn)
	}
	if len(turns) == 0 {
		return nil, nil, errors.New("input.messages must have a message of role user")
	}
	return turns, system, nil
}

// turnOf returns m with its content as the API takes it: a text stays one.
func turnOf(m message, blocks []json.RawMessage) (message, error) {
	turn := message{}
	maps.Copy(turn, m)
	if content := bytes.TrimSpace(m["content"]); len(content) > 0 && content[0] == '"' {
		return turn, nil
	}
	raw, err := providers.Encode(blocks)
	if err != nil {
		return nil, fmt.Errorf("encoding a message: %w", err)
	}
	turn["content"] = raw
	return turn, nil
}

// blocksOf reads a content: a text, or a list of blocks of either API.
func blocksOf(at string, content json.RawMessage) ([]json.RawMessage, error) {
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return nil, nil
	}
	var text string
	if content[0] == '"' && json.Unmarshal(content, &text) == nil {
		block, err := providers.Encode(map[string]string{"type": "text", "text": text})
		return []json.RawMessage{block}, err
	}
	var blocks []json.RawMessage
	if json.Unmarshal(content, &blocks) != nil || blocks == nil {
		return nil, fmt.Errorf("%s must be a text or a list of blocks", at)
	}
	for i, block := range blocks {
		var err error
		if blocks[i], err = imageOf(block); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", at, i, err)
		}
	}
	return blocks, nil
}

// imageOf turns OpenAI's {"type":"image_url"} into an image block; every other
// block stays as it is.
func imageOf(block json.RawMessage) (json.RawMessage, error) {
	var part struct {
		Type  string `json:"type"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(block, &part); err != nil {
		return nil, errors.New("is no content block")
	}
	if part.Type != "image_url" {
		return block, nil
	}
	source := map[string]string{"type": "url", "url": part.Image.URL}
	if inline, ok := strings.CutPrefix(part.Image.URL, "data:"); ok {
		media, data, ok := strings.Cut(inline, ";base64,")
		if !ok {
			return nil, errors.New("a data URL must be base64")
		}
		source = map[string]string{"type": "base64", "media_type": media, "data": data}
	}
	return providers.Encode(map[string]any{"type": "image", "source": source})
}
