package contracts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// answer is a result as assertions see it.
type answer struct {
	ai      bool // it has the shape of design §8; else the whole result is the output
	content string
	none    bool   // content is null or absent
	finish  string // as the provider said it
	usage   map[string]any
	members map[string]json.RawMessage // of the result, ai only

	raw    json.RawMessage // the content as JSON; only after parsed
	json   any
	fault  *verdict
	looked bool

	asked   bool          // the assertions that are being judged ask for JSON
	latency time.Duration // of the call; 0 when it is not known
}

// readAnswer reads a result. One with content and finish_reason is an AI
// provider's; any other is taken whole, as JSON.
func readAnswer(result json.RawMessage) *answer {
	members, err := object(result)
	if err != nil || members["content"] == nil || members["finish_reason"] == nil {
		return &answer{content: string(bytes.TrimSpace(result))}
	}
	a := &answer{ai: true, members: members}
	if json.Unmarshal(members["finish_reason"], &a.finish) != nil {
		a.finish = ""
	}
	var content *string
	switch err := json.Unmarshal(members["content"], &content); {
	case err != nil: // content parts, or what else a server may send
		a.content = string(members["content"])
	case content == nil:
		a.none = true
	default:
		a.content = *content
	}
	if usage, fault := parseJSON(string(members["usage"])); fault == nil {
		a.usage, _ = usage.(map[string]any)
	}
	return a
}

// parsed is the content as JSON, or why it is none. Nothing is repaired.
func (a *answer) parsed() (any, *verdict) {
	if !a.looked {
		a.looked = true
		a.json, a.fault = parseJSON(a.content)
		if a.fault == nil {
			a.raw = json.RawMessage(strings.TrimSpace(a.content))
		}
	}
	return a.json, a.fault
}

// output is what rules call output: the parsed JSON where JSON was asked for, or
// where the result is no AI provider's, else the text.
func (a *answer) output() any {
	if a.asked || !a.ai {
		if v, fault := a.parsed(); fault == nil {
			return v
		}
	}
	return a.content
}

// withOutput returns the result with the parsed JSON as its member output
// (design §8); everything else stays as it was.
func (a *answer) withOutput() (json.RawMessage, error) {
	members := maps.Clone(a.members)
	members["output"] = a.raw
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range inOrder(members) {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("encoding the name of a member: %w", err)
		}
		b.Write(key)
		b.WriteByte(':')
		if err := json.Compact(&b, members[name]); err != nil {
			return nil, fmt.Errorf("encoding a member: %w", err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
