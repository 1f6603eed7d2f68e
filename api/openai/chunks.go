package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// pieceSize bounds the text in one chunk, in bytes: clients read line by line,
// some into small buffers.
const pieceSize = 4 << 10

// chunker turns a chat.completion into the chunks it could have come in.
type chunker struct {
	usage bool                       // asked for
	same  map[string]json.RawMessage // in every chunk
	rest  map[string]json.RawMessage // in the last that has a choice
	made  [][]byte
	err   error
}

// chunksOf cuts a chat.completion, as completionOf gives it, into the data of
// chat.completion.chunk events.
func chunksOf(whole []byte, usage bool) ([][]byte, error) {
	var members map[string]json.RawMessage
	var choices []choice
	if err := json.Unmarshal(whole, &members); err != nil {
		return nil, fmt.Errorf("read a completion: %w", err)
	}
	if err := json.Unmarshal(members["choices"], &choices); err != nil {
		return nil, fmt.Errorf("read the choices of a completion: %w", err)
	}
	tokens := members["usage"]
	c := &chunker{usage: usage, same: map[string]json.RawMessage{}, rest: members}
	for _, name := range []string{"id", "created", "model", "system_fingerprint", "service_tier"} {
		if value, ok := members[name]; ok {
			c.same[name] = value
		}
		delete(members, name)
	}
	for _, name := range []string{"object", "choices", "usage"} {
		delete(members, name)
	}
	for i, choice := range choices {
		c.choice(choice, i == len(choices)-1)
	}
	if usage && !null(tokens) {
		c.chunk(map[string]any{"usage": tokens, "choices": []any{}})
	}
	return c.made, c.err
}

// choice is one of the answers asked for, member by member.
type choice map[string]json.RawMessage

func (c *chunker) choice(ch choice, last bool) {
	index := ch["index"]
	if null(index) {
		index = json.RawMessage("0")
	}
	var message map[string]json.RawMessage
	if err := json.Unmarshal(ch["message"], &message); err != nil && c.err == nil {
		c.err = fmt.Errorf("read a message: %w", err)
	}
	delta := func(d map[string]any) {
		c.chunk(map[string]any{"choices": []any{map[string]any{"index": index, "delta": d, "finish_reason": nil}}})
	}
	sendMessage(message, delta)
	end := map[string]any{"delta": struct{}{}}
	for name, value := range ch {
		if name != "message" {
			end[name] = value
		}
	}
	end["index"] = index
	chunk := map[string]any{"choices": []any{end}}
	if last {
		for name, value := range c.rest {
			chunk[name] = value
		}
	}
	c.chunk(chunk)
}

// sendMessage gives delta a message in deltas: its text and the arguments of its tool
// calls in pieces, which clients join, everything else whole.
func sendMessage(message map[string]json.RawMessage, delta func(map[string]any)) {
	first := map[string]any{"role": json.RawMessage(`"assistant"`)}
	var later []func()
	for _, name := range slices.Sorted(maps.Keys(message)) {
		value := message[name]
		var text string
		var calls []map[string]json.RawMessage
		switch {
		case name == "tool_calls" && json.Unmarshal(value, &calls) == nil:
			later = append(later, func() { toolCalls(calls, delta) })
		case (name == "content" || name == "refusal") && !null(value) && json.Unmarshal(value, &text) == nil:
			first[name] = ""
			later = append(later, func() {
				for _, piece := range cut(text) {
					delta(map[string]any{name: piece})
				}
			})
		default:
			first[name] = value
		}
	}
	delta(first)
	for _, send := range later {
		send()
	}
}

func toolCalls(calls []map[string]json.RawMessage, delta func(map[string]any)) {
	for i, call := range calls {
		begin := map[string]any{}
		for name, value := range call {
			begin[name] = value
		}
		begin["index"] = i
		var function map[string]json.RawMessage
		var arguments string
		split := json.Unmarshal(call["function"], &function) == nil && json.Unmarshal(function["arguments"], &arguments) == nil
		if split {
			function["arguments"] = json.RawMessage(`""`)
			begin["function"] = function
		}
		delta(map[string]any{"tool_calls": []any{begin}})
		for _, piece := range cut(arguments) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": piece}}}})
		}
	}
}

// chunk sends a chunk with the members all of them have.
func (c *chunker) chunk(members map[string]any) {
	for name, value := range c.same {
		members[name] = value
	}
	members["object"] = "chat.completion.chunk"
	if _, ok := members["usage"]; !ok && c.usage {
		members["usage"] = nil // of every chunk but the last, as OpenAI has it
	}
	data, err := encode(members)
	if err != nil && c.err == nil {
		c.err = err
	}
	c.made = append(c.made, data)
}

// cut cuts text into pieces, never within a character.
func cut(text string) []string {
	var pieces []string
	for len(text) > pieceSize {
		at := pieceSize
		for !utf8.RuneStart(text[at]) {
			at--
		}
		pieces = append(pieces, text[:at])
		text = text[at:]
	}
	if text != "" {
		pieces = append(pieces, text)
	}
	return pieces
}
