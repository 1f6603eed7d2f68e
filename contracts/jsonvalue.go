package contracts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a number in an answer: what no double holds, or has more digits than
// anything means, is no value to calculate with.
const maxDigits = 400

func validJSON(text string) bool { return jsontext.Value(text).IsValid() }

// parseJSON reads a text that is one JSON value and nothing else, with numbers as
// json.Number; or says which way it is not. Duplicate names and bad UTF-8 are
// refused (RFC 7493): two readers would see two answers.
func parseJSON(text string) (any, *verdict) {
	if !validJSON(text) {
		fault := notJSON(text)
		return nil, &fault
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, &verdict{reason: ReasonNotJSON, why: "the JSON nests too deep"}
	}
	if !numbersFit(v) {
		return nil, &verdict{reason: ReasonNotJSON, why: "a number in the JSON is out of range"}
	}
	return v, nil
}

// notJSON tells what came instead of JSON.
func notJSON(text string) verdict {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return verdict{reason: ReasonNotJSON, why: "the answer is empty"}
	}
	if fenced(trimmed) {
		return verdict{reason: ReasonFenced, why: "the answer is JSON in a Markdown fence"}
	}
	if trimmed[0] != '{' && trimmed[0] != '[' {
		if refusalOpening(trimmed) {
			return verdict{reason: ReasonRefused, why: "the answer is a refusal in words, not JSON"}
		}
		if validJSON(trimmed[:1]) || trimmed[0] == '"' || strings.HasPrefix(trimmed, "\ufeff") {
			return verdict{reason: ReasonNotJSON, why: "the answer is not valid JSON"}
		}
		return verdict{reason: ReasonProse, why: "the answer is prose, not JSON"}
	}
	var first json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(trimmed))
	err := decoder.Decode(&first)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return verdict{reason: ReasonTruncated, why: "the JSON stops in the middle"}
	case err != nil:
		return verdict{reason: ReasonNotJSON, why: "the answer is not valid JSON"}
	case decoder.InputOffset() < int64(len(trimmed)):
		return verdict{reason: ReasonProse, why: "the answer goes on after the JSON"}
	}
	return verdict{reason: ReasonNotJSON, why: "the JSON has a name twice, or characters that are no UTF-8"}
}

// fenced tells whether the text has a Markdown fence with JSON in it.
func fenced(text string) bool {
	const fence = "```"
	for {
		_, after, found := strings.Cut(text, fence)
		if !found {
			return false
		}
		if line := strings.IndexByte(after, '\n'); line >= 0 && !strings.ContainsAny(after[:line], "{[`") {
			after = after[line:] // the language
		}
		body, rest, closed := strings.Cut(after, fence)
		if body = strings.TrimSpace(body); body != "" && (validJSON(body) || !closed && (body[0] == '{' || body[0] == '[')) {
			return true
		}
		text = rest
	}
}

// objectsIn finds the JSON objects in a text, as they stand there.
func objectsIn(text string) []any {
	var found []any
	tries := 0
	for tries < maxObjectTries {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		tries++
		text = text[at:]
		var raw json.RawMessage
		decoder := json.NewDecoder(strings.NewReader(text))
		if decoder.Decode(&raw) != nil {
			text = text[1:]
			continue
		}
		text = text[decoder.InputOffset():]
		if v, fault := parseJSON(string(raw)); fault == nil {
			found = append(found, v)
		}
	}
	return found
}

// maxObjectTries bounds the work that a text of braces makes.
const maxObjectTries = 1000

func numbersFit(v any) bool {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return err == nil && !math.IsInf(f, 0) && len(v) <= maxDigits
	case map[string]any:
		for _, member := range v {
			if !numbersFit(member) {
				return false
			}
		}
	case []any:
		for _, item := range v {
			if !numbersFit(item) {
				return false
			}
		}
	}
	return true
}

// native gives numbers the types that rules calculate with: int64 where they are
// whole and fit, else float64.
func native(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, member := range v {
			members[name] = native(member)
		}
		return members
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = native(item)
		}
		return items
	}
	return v
}

// equalJSON compares two values as JSON: the order of names does not count, and
// 1, 1.0 and 1e0 are one number.
func equalJSON(a, b any) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func canonical(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding a value: %w", err)
	}
	value := jsontext.Value(b)
	if err := value.Canonicalize(jsontext.CanonicalizeRawInts(false)); err != nil {
		return nil, fmt.Errorf("canonicalizing a value: %w", err)
	}
	return value, nil
}
