package httpprovider

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// find returns the string or number at path in a JSON body, "" when there is
// none. A path that begins with a slash is a JSON Pointer (RFC 6901), any other
// is names and list indexes separated by dots.
func find(body []byte, path string) string {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var at any
	if dec.Decode(&at) != nil {
		return ""
	}
	for _, name := range names(path) {
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return ""
			}
			at = v[i]
		default:
			return ""
		}
	}
	switch v := at.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
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
