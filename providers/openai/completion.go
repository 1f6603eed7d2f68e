package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"onejob/providers"
)

// completion puts the chunks of a stream together to the chat.completion they
// stand for. Members it does not know are kept, the last value of each.
type completion struct {
	members map[string]json.RawMessage
	choices []*choice
}

// choice is one of the answers asked for.
type choice struct {
	index   int
	members map[string]json.RawMessage // finish_reason and the like
	message message
}

// maxChoices bounds what a stream can make us hold; OpenAI allows 128.
const maxChoices = 1024

func (c *completion) add(chunk []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(chunk, &members); err != nil || members == nil {
		return fmt.Errorf("a chunk is no JSON object")
	}
	var parts []map[string]json.RawMessage
	if raw := members["choices"]; !null(raw) {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return fmt.Errorf("choices is no list of objects")
		}
	}
	delete(members, "choices")
	if c.members == nil {
		c.members = map[string]json.RawMessage{}
	}
	keep(c.members, members)
	for _, part := range parts {
		if err := c.addChoice(part); err != nil {
			return err
		}
	}
	return nil
}

func (c *completion) addChoice(part map[string]json.RawMessage) error {
	index := 0
	if raw := part["index"]; !null(raw) {
		if err := json.Unmarshal(raw, &index); err != nil || index < 0 || index >= maxChoices {
			return fmt.Errorf("a choice has no valid index")
		}
	}
	at := slices.IndexFunc(c.choices, func(ch *choice) bool { return ch.index == index })
	if at < 0 {
		at = len(c.choices)
		c.choices = append(c.choices, &choice{index: index, members: map[string]json.RawMessage{}})
	}
	ch := c.choices[at]
	delta := part["delta"]
	if null(delta) {
		delta = part["message"] // some servers close with the whole message
	}
	delete(part, "delta")
	delete(part, "message")
	delete(part, "index")
	keepLogprobs(ch.members, part)
	keep(ch.members, part)
	if null(delta) {
		return nil
	}
	return ch.message.add(delta)
}

// size is the number of bytes of text received so far.
func (c *completion) size() int {
	size := 0
	for _, ch := range c.choices {
		size += ch.message.size
	}
	return size
}

// keepLogprobs appends the lists in logprobs, which come piece by piece.
func keepLogprobs(into, part map[string]json.RawMessage) {
	var have, more map[string][]json.RawMessage
	if null(into["logprobs"]) || null(part["logprobs"]) ||
		json.Unmarshal(into["logprobs"], &have) != nil || json.Unmarshal(part["logprobs"], &more) != nil {
		return
	}
	for name, list := range more {
		have[name] = append(have[name], list...)
	}
	if raw, err := providers.Encode(have); err == nil {
		part["logprobs"] = raw
	}
}

// encode returns the chat.completion; without a single choice it has none.
func (c *completion) encode() (json.RawMessage, error) {
	slices.SortFunc(c.choices, func(a, b *choice) int { return a.index - b.index })
	choices := make([]map[string]any, len(c.choices))
	for i, ch := range c.choices {
		choices[i] = map[string]any{"index": ch.index, "message": ch.message.members()}
		for name, value := range ch.members {
			choices[i][name] = value
		}
	}
	whole := map[string]any{}
	for name, value := range c.members {
		whole[name] = value
	}
	whole["object"] = "chat.completion"
	whole["choices"] = choices
	raw, err := providers.Encode(whole)
	if err != nil {
		return nil, fmt.Errorf("putting the stream together: %w", err)
	}
	return raw, nil
}

// keep takes over every value that says something: a later null or "" does not
// undo what was said before.
func keep(into, from map[string]json.RawMessage) {
	for name, value := range from {
		if null(value) || string(value) == `""` {
			continue
		}
		into[name] = value
	}
}

func null(raw json.RawMessage) bool {
	return len(raw) == 0 || strings.TrimSpace(string(raw)) == "null"
}
