package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// Merge lays a job's params over a provider's options, name by name. Values are
// taken as they are: numbers keep their digits. The result is never nil.
func Merge(options map[string]any, params json.RawMessage) (map[string]json.RawMessage, error) {
	merged := make(map[string]json.RawMessage, len(options))
	for name, value := range options {
		raw, err := Encode(value)
		if err != nil {
			return nil, fmt.Errorf("encoding option %s: %w", name, err)
		}
		merged[name] = raw
	}
	if len(bytes.TrimSpace(params)) == 0 {
		return merged, nil
	}
	var over map[string]json.RawMessage
	if err := json.Unmarshal(params, &over); err != nil {
		return nil, fmt.Errorf("params must be a JSON object: %w", err)
	}
	maps.Copy(merged, over)
	return merged, nil
}

// Encode is json.Marshal without the escaping of <, > and & meant for HTML.
func Encode(value any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
