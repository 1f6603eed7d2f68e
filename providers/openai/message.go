package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// message grows delta by delta.
type message struct {
	text  map[string]*strings.Builder // content, refusal, reasoning_content …
	other map[string]json.RawMessage
	tools []*toolCall
	call  *toolCall // the older function_call
	size  int       // bytes of all text so far
}

// toolCall is a call the model asks for; its arguments come in pieces.
type toolCall struct {
	index     int
	id, kind  string
	name      strings.Builder
	arguments strings.Builder
}

// toolDelta is a piece of a toolCall. Some servers leave the index out.
type toolDelta struct {
	Index    *int         `json:"index"`
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionPart `json:"function"`
}

type functionPart struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (m *message) add(raw json.RawMessage) error {
	var delta map[string]json.RawMessage
	if err := json.Unmarshal(raw, &delta); err != nil {
		return fmt.Errorf("a delta is no object")
	}
	for name, value := range delta {
		if null(value) {
			continue
		}
		if err := m.addMember(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (m *message) addMember(name string, value json.RawMessage) error {
	switch name {
	case "tool_calls":
		var deltas []toolDelta
		if err := json.Unmarshal(value, &deltas); err != nil {
			return fmt.Errorf("tool_calls is no list of calls")
		}
		for _, d := range deltas {
			m.tool(d).add(d.Function)
			m.size += len(d.Function.Name) + len(d.Function.Arguments)
		}
		return nil
	case "function_call":
		var part functionPart
		if err := json.Unmarshal(value, &part); err != nil {
			return fmt.Errorf("function_call is no call")
		}
		if m.call == nil {
			m.call = &toolCall{}
		}
		m.call.add(part)
		m.size += len(part.Name) + len(part.Arguments)
		return nil
	}
	var piece string
	if name == "role" || json.Unmarshal(value, &piece) != nil {
		if m.other == nil {
			m.other = map[string]json.RawMessage{}
		}
		m.other[name] = value
		return nil
	}
	if m.text == nil {
		m.text = map[string]*strings.Builder{}
	}
	if m.text[name] == nil {
		m.text[name] = &strings.Builder{}
	}
	m.text[name].WriteString(piece)
	m.size += len(piece)
	return nil
}

// tool finds the call a piece belongs to: by its index, else a new id begins a
// new call and anything else continues the last one.
func (m *message) tool(d toolDelta) *toolCall {
	at := len(m.tools) - 1
	switch {
	case d.Index != nil:
		at = slices.IndexFunc(m.tools, func(t *toolCall) bool { return t.index == *d.Index })
	case at >= 0 && d.ID != "" && m.tools[at].id != d.ID:
		at = -1
	}
	if at < 0 {
		call := &toolCall{index: len(m.tools), kind: "function"}
		if d.Index != nil {
			call.index = *d.Index
		}
		m.tools = append(m.tools, call)
		at = len(m.tools) - 1
	}
	call := m.tools[at]
	if d.ID != "" {
		call.id = d.ID
	}
	if d.Type != "" {
		call.kind = d.Type
	}
	return call
}

// add appends a piece. A name that is repeated whole in every piece, as some
// servers do, is taken once.
func (t *toolCall) add(part functionPart) {
	if part.Name != t.name.String() {
		t.name.WriteString(part.Name)
	}
	t.arguments.WriteString(part.Arguments)
}

func (t *toolCall) function() map[string]string {
	return map[string]string{"name": t.name.String(), "arguments": t.arguments.String()}
}

// members returns the message as a chat.completion holds it.
func (m *message) members() map[string]any {
	members := map[string]any{"role": "assistant", "content": nil}
	for name, value := range m.other {
		members[name] = value
	}
	for name, text := range m.text {
		members[name] = text.String()
	}
	if m.call != nil {
		members["function_call"] = m.call.function()
	}
	if len(m.tools) == 0 {
		return members
	}
	slices.SortStableFunc(m.tools, func(a, b *toolCall) int { return a.index - b.index })
	calls := make([]map[string]any, len(m.tools))
	for i, t := range m.tools {
		calls[i] = map[string]any{"id": t.id, "type": t.kind, "function": t.function()}
	}
	members["tool_calls"] = calls
	return members
}
