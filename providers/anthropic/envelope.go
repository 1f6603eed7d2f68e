package anthropic

import (
	"encoding/json"

	"onejob/providers"
)

// apiError is {"type":"error","error":{type, message},"request_id"}. Servers that
// only resemble the API leave the outer type out.
type apiError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func errorOf(body []byte) (apiError, bool) {
	var outer struct {
		Error apiError `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return apiError{}, false
	}
	return outer.Error, outer.Error.Type != "" || outer.Error.Message != ""
}

func envelope(a providers.Answer) (providers.Refusal, bool) {
	said, ok := errorOf(a.Body)
	return said.refusal(), ok
}

func (e apiError) refusal() providers.Refusal {
	return providers.Refusal{Message: e.Message, Code: e.Type}
}

// status is the HTTP status an error inside a stream stands for; 0 for a type
// that is not known. A timeout_error proves nothing, as a 504 does not.
func (e apiError) status() int {
	switch e.Type {
	case "invalid_request_error":
		return 400
	case "authentication_error":
		return 401
	case "billing_error":
		return 402
	case "permission_error":
		return 403
	case "not_found_error":
		return 404
	case "request_too_large":
		return 413
	case "rate_limit_error":
		return 429
	case "api_error":
		return 500
	case "timeout_error":
		return 504
	case "overloaded_error":
		return 529
	}
	return 0
}
