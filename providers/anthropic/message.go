package anthropic

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"onejob/providers"
)

// growing puts the events of a stream together to the message they stand for.
// Members and deltas it does not know are kept.
type growing struct {
	members map[string]json.RawMessage
	usage   map[string]json.RawMessage
	blocks  []*block
	size    int  // bytes of all text so far
	stopped bool // message_stop came
}

// block is a content block.
type block struct {
	members   map[string]json.RawMessage
	text      map[string]*strings.Builder // by member: text, thinking, signature …
	input     strings.Builder             // a tool's, piece by piece
	citations []json.RawMessage
}

// event is what is read of the events of a stream.
type event struct {
	Type    string                     `json:"type"`
	Index   int                        `json:"index"`
	Message map[string]json.RawMessage `json:"message"`
	Block   map[string]json.RawMessage `json:"content_block"`
	Delta   map[string]json.RawMessage `json:"delta"`
	Usage   map[string]json.RawMessage `json:"usage"`
}

func (g *growing) add(data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return errors.New("an event is no object")
	}
	switch e.Type {
	case "message_start":
		g.members, g.usage = e.Message, map[string]json.RawMessage{}
		_ = json.Unmarshal(e.Message["usage"], &g.usage) // what is no object is replaced by a later one
	case "content_block_start":
		if e.Index != len(g.blocks) || e.Block == nil {
			return errors.New("a content block is out of order")
		}
		g.blocks = append(g.blocks, &block{members: e.Block, text: map[string]*strings.Builder{}})
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(g.blocks) {
			return errors.New("a delta belongs to no content block")
		}
		g.size += g.blocks[e.Index].add(e.Delta)
	case "message_delta":
		if g.members == nil {
			return errors.New("a delta belongs to no message")
		}
		maps.Copy(g.members, e.Delta)
		if g.usage == nil {
			g.usage = map[string]json.RawMessage{}
		}
		for name, value := range e.Usage {
			if !null(value) { // a count that does not apply is the first event's
				g.usage[name] = value
			}
		}
	case "message_stop":
		g.stopped = true
	}
	return nil // ping, content_block_stop, and what the API may add
}

// add appends a delta, {"type":"text_delta","text":"…"} and the like, and returns
// its size in bytes.
func (b *block) add(delta map[string]json.RawMessage) (size int) {
	for name, value := range delta {
		if name == "type" || null(value) {
			continue
		}
		size += len(value)
		var piece string
		isText := json.Unmarshal(value, &piece) == nil
		switch {
		case name == "citation":
			b.citations = append(b.citations, value)
		case name == "partial_json" && isText:
			b.input.WriteString(piece)
		case isText:
			if b.text[name] == nil {
				var begun string
				_ = json.Unmarshal(b.members[name], &begun)
				b.text[name] = &strings.Builder{}
				b.text[name].WriteString(begun)
			}
			b.text[name].WriteString(piece)
		default:
			b.members[name] = value
		}
	}
	return size
}

// encode returns the message as a request without stream would have got it.
func (g *growing) encode() (json.RawMessage, error) {
	if g.members == nil {
		return nil, nil // understand says what is missing
	}
	content := make([]map[string]json.RawMessage, len(g.blocks))
	for i, b := range g.blocks {
		members, err := b.encode()
		if err != nil {
			return nil, err
		}
		content[i] = members
	}
	var err error
	if g.members["content"], err = providers.Encode(content); err != nil {
		return nil, errors.New("the content cannot be put together")
	}
	if g.members["usage"], err = providers.Encode(g.usage); err != nil {
		return nil, errors.New("the usage cannot be put together")
	}
	return providers.Encode(g.members)
}

func (b *block) encode() (map[string]json.RawMessage, error) {
	put := map[string]any{}
	for name, text := range b.text {
		put[name] = text.String()
	}
	if input := b.input.String(); input != "" {
		put["input"] = input // cut off by max_tokens it is a text: nothing is repaired
		if json.Valid([]byte(input)) {
			put["input"] = json.RawMessage(input)
		}
	}
	if len(b.citations) > 0 {
		put["citations"] = b.citations
	}
	for name, value := range put {
		raw, err := providers.Encode(value)
		if err != nil {
			return nil, errors.New("a content block cannot be put together")
		}
		b.members[name] = raw
	}
	return b.members, nil
}

func null(raw json.RawMessage) bool {
	return len(raw) == 0 || strings.TrimSpace(string(raw)) == "null"
}
