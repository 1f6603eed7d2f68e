package contracts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"onejob/providers"
)

// InputError says why an input cannot be rendered. Its text is for the caller of
// a job: it names variables, never values.
type InputError struct {
	Missing []string // variables of the prompt the input lacks
	Unknown []string // members that are no variable of the prompt
	Wrong   []string // variables whose value is neither text, a number, true nor false
	What    string   // anything else
}

// Error names everything that is wrong, and what is allowed.
func (e *InputError) Error() string {
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"missing", e.Missing}, {"not known", e.Unknown}, {"neither text, a number, true nor false", e.Wrong}} {
		if len(p.names) > 0 {
			parts = append(parts, p.what+": "+strings.Join(p.names, ", "))
		}
	}
	if e.What != "" {
		parts = append(parts, e.What)
	}
	return "input does not fit the contract's prompt: " + strings.Join(parts, "; ")
}

// Render turns a job's input into the messages that are sent: the variables of
// the contract's prompt become one user message (design §6); an input that has
// messages is returned as it is. A member simulate is passed on. The error is an
// *InputError.
func (c *Contract) Render(input json.RawMessage) (json.RawMessage, error) {
	members, err := object(input)
	if err != nil {
		return nil, &InputError{What: "want an object with " + c.wanted()}
	}
	if _, ok := members["messages"]; ok {
		return input, nil
	}
	values, err := c.values(members)
	if err != nil {
		return nil, err
	}
	return rendered(c.Prompt.Fill(values), members["simulate"])
}

// rendered are the messages of a prompt.
func rendered(prompt string, simulate json.RawMessage) (json.RawMessage, error) {
	out := map[string]any{"messages": []message{{Role: "user", Content: prompt}}}
	if simulate != nil {
		out["simulate"] = simulate
	}
	b, err := providers.Encode(out)
	if err != nil {
		return nil, fmt.Errorf("encoding the messages: %w", err)
	}
	return b, nil
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// values reads the variables of an input, each exactly once.
func (c *Contract) values(members map[string]json.RawMessage) (map[string]string, error) {
	values, wrong := map[string]string{}, &InputError{}
	for name, raw := range members {
		switch {
		case slices.Contains(reserved, name):
		case !slices.Contains(c.Prompt.names, name):
			wrong.Unknown = append(wrong.Unknown, short(name, 60))
		default:
			value, ok := scalarText(raw)
			if !ok {
				wrong.Wrong = append(wrong.Wrong, name)
			}
			values[name] = value
		}
	}
	for _, name := range c.Prompt.names {
		if _, ok := members[name]; !ok {
			wrong.Missing = append(wrong.Missing, name)
		}
	}
	if wrong.Missing == nil && wrong.Unknown == nil && wrong.Wrong == nil {
		return values, nil
	}
	slices.Sort(wrong.Unknown)
	slices.Sort(wrong.Wrong)
	wrong.What = "want " + c.wanted()
	return nil, wrong
}

func (c *Contract) wanted() string {
	if len(c.Prompt.names) == 0 {
		return "messages, or no members, for the prompt has no variables"
	}
	return "messages, or " + strings.Join(c.Prompt.names, ", ")
}

// scalarText is a JSON text's content, or a number or truth value as written.
func scalarText(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil && raw[0] == '"' {
		return s, true
	}
	text := strings.TrimSpace(string(raw))
	if text == "" || text[0] == '{' || text[0] == '[' || text == "null" {
		return "", false
	}
	return text, text[0] != '"'
}

// texted are the values of a test's variables as they are put into the prompt.
func texted(vars map[string]any) map[string]string {
	out := make(map[string]string, len(vars))
	for name, value := range vars {
		switch value := value.(type) {
		case string:
			out[name] = value
		case int64:
			out[name] = strconv.FormatInt(value, 10)
		case bool:
			out[name] = strconv.FormatBool(value)
		}
	}
	return out
}
