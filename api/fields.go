package api

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// fields are the members of a request body, each as the caller wrote it.
type fields map[string]jsontext.Value

// readFields splits body into its members. It is strict: what canonical refuses
// and any name that is not in allowed is a request-invalid problem.
func readFields(body []byte, allowed ...string) (f fields, canonicalBody []byte, p *Problem) {
	f, names, canonicalBody, p := members(body)
	if p != nil {
		if p.Position == nil { // it is JSON, but no object
			p.Allowed = allowed
		}
		return nil, nil, p
	}
	for _, name := range names {
		if !slices.Contains(allowed, name) {
			return nil, nil, newProblem(&problemRequestInvalid, "The field %q is not known.", clip(name)).at(clip(name), allowed...)
		}
	}
	return f, canonicalBody, nil
}

// members splits body into its members, and lists their names in its order.
func members(body []byte) (f fields, names []string, canonicalBody []byte, p *Problem) {
	normal, bad := canonical(body)
	if bad != nil {
		return nil, nil, nil, bad.problem(body)
	}
	if normal[0] != '{' {
		return nil, nil, nil, newProblem(&problemRequestInvalid, "The body must be a JSON object, not %s.", kindOf(normal))
	}
	f = fields{}
	for key, value := range eachMember(body) { // canonical has read it all without error
		f[key], names = value, append(names, key)
	}
	return f, names, normal, nil
}

// eachMember gives the members of a JSON object that was found to be good: bytes of
// the object's own.
func eachMember(object []byte) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true)) // there are none
		_, _ = dec.ReadToken()                                                                  // the brace
		for dec.PeekKind() == '"' {
			token, _ := dec.ReadToken()
			name := token.String()
			value, _ := dec.ReadValue() // the decoder's own, until it reads on
			end := dec.InputOffset()
			if !yield(name, jsontext.Value(object[end-int64(len(value)):end:end])) {
				return
			}
		}
	}
}

// clip keeps what a caller sent from filling an answer.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// text returns a field that must be a string when it is there.
func (f fields) text(name string) (string, *Problem) {
	value, ok := f[name]
	if !ok {
		return "", nil
	}
	if value.Kind() != '"' {
		return "", wrongType(name, "a string", value)
	}
	s, _ := jsontext.AppendUnquote(nil, value)
	return string(s), nil
}

// requiredText returns a field that must be a string other than "".
func (f fields) requiredText(name string) (string, *Problem) {
	if _, ok := f[name]; !ok {
		return "", missing(name)
	}
	s, p := f.text(name)
	if p == nil && s == "" {
		p = invalidField(name, "The field %s must not be empty.", name)
	}
	return s, p
}

// choice returns a field that must be one of allowed when it is there.
func (f fields) choice(name string, allowed ...string) (string, *Problem) {
	s, p := f.text(name)
	if p != nil {
		return "", p
	}
	if _, ok := f[name]; ok && !slices.Contains(allowed, s) {
		return "", newProblem(&problemRequestInvalid, "The field %s must be one of %s, not %q.",
			name, strings.Join(allowed, ", "), clip(s)).at(name, allowed...)
	}
	return s, nil
}

// object returns the names and values of a field that must be an object when
// it is there.
func (f fields) object(name string) (fields, *Problem) {
	value, ok := f[name]
	if !ok {
		return nil, nil
	}
	if value.Kind() != '{' {
		return nil, wrongType(name, "an object", value)
	}
	return maps.Collect(eachMember(value)), nil
}

// duration returns a field that must be a Go duration of at least a millisecond
// when it is there.
func (f fields) duration(name string) (time.Duration, *Problem) {
	s, p := f.text(name)
	if _, ok := f[name]; p != nil || !ok {
		return 0, p
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond {
		return 0, invalidField(name, "The field %s must be a duration of at least 1ms, such as 400ms, 90s or 1h30m, not %q.", name, clip(s))
	}
	return d, nil
}

func missing(name string) *Problem {
	return invalidField(name, "The field %s is missing.", name)
}

func invalidField(name, detail string, args ...any) *Problem {
	return newProblem(&problemRequestInvalid, detail, args...).at(name)
}

func wrongType(name, want string, value jsontext.Value) *Problem {
	return invalidField(name, "The field %s must be %s, not %s.", name, want, kindOf(value))
}

// kindOf says in words what value is.
func kindOf(value jsontext.Value) string {
	switch value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "a boolean"
	}
}
