package httpprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// at returns the value at path in a JSON body, nil when there is none. A path that
// begins with a slash is a JSON Pointer (RFC 6901), any other is names and list
// indexes separated by dots. Values keep their bytes.
func at(body []byte, path string) json.RawMessage {
	raw := json.RawMessage(bytes.TrimSpace(body))
	for _, name := range names(path) {
		if len(raw) == 0 {
			return nil
		}
		switch raw[0] {
		case '{':
			var members map[string]json.RawMessage
			if json.Unmarshal(raw, &members) != nil {
				return nil
			}
			raw = members[name]
		case '[':
			var list []json.RawMessage
			i, err := strconv.Atoi(name)
			if err != nil || json.Unmarshal(raw, &list) != nil || i < 0 || i >= len(list) {
				return nil
			}
			raw = list[i]
		default:
			return nil
		}
	}
	if !json.Valid(raw) {
		return nil
	}
	return raw
}

// find returns the string or number at path in a JSON body, "" when there is
// none.
func find(body []byte, path string) string {
	var value any
	if unmarshal(at(body, path), &value) != nil {
		return ""
	}
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
}

// unmarshal keeps the digits of numbers.
func unmarshal(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	return nil
}

func names(path string) []string {
	if !strings.HasPrefix(path, "/") {
		return strings.Split(path, ".")
	}
	parts := strings.Split(path[1:], "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}
