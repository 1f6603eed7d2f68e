package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"onejob/providers"
)

// envelope recognises {"error":{message, type, param, code}}, {"error":"text"}
// (Ollama) and {"object":"error", message, type, code} (older vLLM).
func envelope(a providers.Answer) (providers.Refusal, bool) {
	said, ok := errorOf(a.Body)
	return said.refusal(), ok
}

// apiError is the provider's own error. Code is a string, a number or null.
type apiError struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
}

func errorOf(body []byte) (apiError, bool) {
	var outer struct {
		Error  json.RawMessage `json:"error"`
		Object string          `json:"object"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return apiError{}, false
	}
	raw := bytes.TrimSpace(outer.Error)
	if outer.Object == "error" {
		raw = body
	}
	return readError(raw)
}

func readError(raw []byte) (apiError, bool) {
	var said apiError
	if len(raw) == 0 || string(raw) == "null" {
		return said, false
	}
	if json.Unmarshal(raw, &said.Message) == nil {
		return said, said.Message != ""
	}
	if json.Unmarshal(raw, &said) != nil {
		return apiError{}, false
	}
	return said, said.Message != "" || said.Type != "" || said.code() != ""
}

func (e apiError) code() string {
	text := strings.Trim(string(e.Code), `"`)
	if text == "null" {
		return ""
	}
	return text
}

func (e apiError) refusal() providers.Refusal {
	code := e.code()
	if code == "" {
		code = e.Type
	}
	return providers.Refusal{
		Message: e.Message,
		Code:    code,
		Content: code == "content_filter" || code == "content_policy_violation",
	}
}

// status is the HTTP status an error inside a success stands for: routers put it
// into code, OpenAI has names. 0 when it says nothing of the kind.
func (e apiError) status() int {
	if n, err := strconv.Atoi(e.code()); err == nil {
		return n
	}
	for _, name := range []string{e.code(), e.Type} {
		switch name {
		case "rate_limit_exceeded", "rate_limit_error", "insufficient_quota", "tokens", "requests":
			return 429
		case "invalid_request_error", "content_filter", "content_policy_violation", "context_length_exceeded":
			return 400
		case "invalid_api_key", "authentication_error":
			return 401
		case "overloaded_error":
			return 529
		}
	}
	return 0
}
