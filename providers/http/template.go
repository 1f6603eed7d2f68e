package httpprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"onejob/providers"
)

// template is the configured body of a create: any JSON value, of which the
// strings may hold placeholders:
//
//	{{input}} {{params}}             the job's input, the options with its params over them
//	{{input.a.0}} {{params./a~1b}}   a part of them, by a path like handle_path's
//	{{attempt}} {{job}}              ids
//	{{callback_url}}                 where the end may be reported; empty without callbacks
//
// A string that is one placeholder and nothing else becomes the value with its
// type, null where the path leads nowhere. Within a longer string only texts,
// numbers and booleans can be put; what is missing there, or is an object, a list
// or null, is a permanent failure (request_invalid) and nothing is sent. There is
// no other syntax: no conditions, no loops, no escapes.
type template struct{ body any }

var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// whole are the placeholders without a path; those of withPath may have one.
var (
	whole    = []string{"input", "params", "attempt", "job", "callback_url"}
	withPath = []string{"input", "params"}
)

// newTemplate refuses placeholders it does not know.
func newTemplate(body any) (template, error) {
	// Through JSON, so that only JSON's types are met later.
	raw, err := providers.Encode(body)
	if err != nil {
		return template{}, errors.New("body is no JSON")
	}
	var tree any
	if err := unmarshal(raw, &tree); err != nil {
		return template{}, errors.New("body is no JSON")
	}
	for _, found := range placeholder.FindAllStringSubmatch(string(raw), -1) {
		name, path, deep := strings.Cut(found[1], ".")
		if deep && (path == "" || !slices.Contains(withPath, name)) || !slices.Contains(whole, name) {
			return template{}, fmt.Errorf("body: {{%s}} is unknown; known are %s, and {{input.…}} and {{params.…}} with a path",
				found[1], "{{"+strings.Join(whole, "}}, {{")+"}}")
		}
	}
	return template{tree}, nil
}

// fill returns the body with values in the places of their names.
func (t template) fill(values map[string]json.RawMessage) (json.RawMessage, error) {
	filled, err := fill(t.body, values)
	if err != nil {
		return nil, err
	}
	return providers.Encode(filled)
}

func fill(node any, values map[string]json.RawMessage) (any, error) {
	switch v := node.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			filled, err := fill(member, values)
			if err != nil {
				return nil, err
			}
			object[name] = filled
		}
		return object, nil
	case []any:
		list := make([]any, len(v))
		for i, member := range v {
			filled, err := fill(member, values)
			if err != nil {
				return nil, err
			}
			list[i] = filled
		}
		return list, nil
	case string:
		return fillText(v, values)
	default:
		return node, nil
	}
}

func fillText(text string, values map[string]json.RawMessage) (any, error) {
	found := placeholder.FindStringSubmatchIndex(text)
	if found == nil {
		return text, nil
	}
	if found[0] == 0 && found[1] == len(text) {
		raw := valueOf(text[found[2]:found[3]], values)
		if raw == nil {
			raw = json.RawMessage("null")
		}
		return raw, nil
	}
	var missing error
	filled := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := placeholder.FindStringSubmatch(match)[1]
		said, ok := scalar(valueOf(name, values))
		if !ok {
			missing = fmt.Errorf("{{%s}} must be a text, a number or a boolean in the job, for it stands within a text", name)
		}
		return said
	})
	return filled, missing
}

// valueOf is the value of a placeholder, nil when its path leads nowhere.
func valueOf(name string, values map[string]json.RawMessage) json.RawMessage {
	name, path, deep := strings.Cut(name, ".")
	if !deep {
		return values[name]
	}
	return at(values[name], path)
}

// scalar is a value as it stands within a text.
func scalar(raw json.RawMessage) (string, bool) {
	var value any
	if unmarshal(raw, &value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}
