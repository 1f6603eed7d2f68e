package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"onejob/api"
)

// request is a call of Chat Completions.
type request struct {
	route    string
	messages jsontext.Value
	params   map[string]jsontext.Value
	stream   bool
	usage    bool // the stream ends with a chunk of usage
}

// parse reads a body. What is no member of its own here is a param, for the
// route to allow or refuse.
func parse(body []byte) (*request, error) {
	members, err := api.Members(body)
	if err != nil {
		return nil, err
	}
	r := &request{params: members}
	if r.route, err = text(members, "model"); err != nil {
		return nil, err
	}
	if r.messages, err = list(members, "messages"); err != nil {
		return nil, err
	}
	if r.stream, err = flag(members, "stream", "stream"); err != nil {
		return nil, err
	}
	if r.usage, err = streamOptions(members["stream_options"]); err != nil {
		return nil, err
	}
	for _, name := range []string{"model", "messages", "stream", "stream_options"} {
		delete(members, name)
	}
	return r, nil
}

// job is the body of POST /v1/jobs that means the same. stream and
// stream_options are not in it: how the answer is sent is no part of the intent.
// Values are as the caller wrote them, so that numbers keep their digits.
func (r *request) job() []byte {
	b := append(quote([]byte(`{"route":`), r.route), `,"input":{"messages":`...)
	b = append(append(b, r.messages...), '}')
	for i, name := range slices.Sorted(maps.Keys(r.params)) {
		if i == 0 {
			b = append(b, `,"params":{`...)
		} else {
			b = append(b, ',')
		}
		b = append(append(quote(b, name), ':'), r.params[name]...)
	}
	if len(r.params) > 0 {
		b = append(b, '}')
	}
	return append(b, '}')
}

// quote appends s as a JSON string. s was read from strict JSON, so it is UTF-8.
func quote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

func text(members map[string]jsontext.Value, name string) (string, error) {
	value, ok := members[name]
	if !ok {
		return "", invalid(name, "%s is missing.", name)
	}
	var s string
	if json.Unmarshal(value, &s) != nil || s == "" {
		return "", invalid(name, "%s must be a string that is not empty.", name)
	}
	return s, nil
}

func list(members map[string]jsontext.Value, name string) (jsontext.Value, error) {
	value, ok := members[name]
	if !ok {
		return nil, invalid(name, "%s is missing.", name)
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil || len(items) == 0 {
		return nil, invalid(name, "%s must be a list with at least one message.", name)
	}
	return value, nil
}

// flag reads a member that may be left out or null; path is its name for people.
func flag(members map[string]jsontext.Value, name, path string) (bool, error) {
	switch value := members[name]; string(value) {
	case "", "null", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, invalid(path, "%s must be true or false.", path)
}

func streamOptions(value jsontext.Value) (usage bool, err error) {
	if len(value) == 0 || value.Kind() == 'n' {
		return false, nil
	}
	var options map[string]jsontext.Value
	if json.Unmarshal(value, &options) != nil {
		return false, invalid("stream_options", "stream_options must be an object.")
	}
	if usage, err = flag(options, "include_usage", "stream_options.include_usage"); err != nil {
		return false, err
	}
	// Accepted and without an effect: nothing that is sent here is obfuscated.
	if _, err = flag(options, "include_obfuscation", "stream_options.include_obfuscation"); err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if name != "include_usage" && name != "include_obfuscation" {
			return false, invalid("stream_options."+clip(name), "stream_options.%s is not known here.", clip(name))
		}
	}
	return usage, nil
}

// invalid is a request that cannot be understood; param is what is wrong with it.
func invalid(param, detail string, args ...any) error {
	p := api.NewProblem("request-invalid", detail, args...)
	p.Field = param
	return p
}

// paramOf is what the door calls a field of POST /v1/jobs.
func paramOf(field string) string {
	if field == "route" {
		return "model"
	}
	if name, ok := strings.CutPrefix(field, "params."); ok {
		return name
	}
	return strings.TrimPrefix(field, "input.")
}
