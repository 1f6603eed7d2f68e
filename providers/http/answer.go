package httpprovider

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"onejob/providers"
)

// understand reads a whole 200, 201 or 202.
func (p *provider) understand(a providers.Answer) providers.Outcome {
	if a.Status == http.StatusAccepted {
		return p.accepted(a)
	}
	body := bytes.TrimSpace(a.Body)
	switch {
	case len(body) == 0:
		return providers.Unreadable("the answer says success and is empty")
	case !json.Valid(body):
		return providers.Unreadable("the answer says success and is no JSON")
	case !a.Framed && number(body):
		// 12 may be the beginning of 123: nothing said how long the answer is.
		return providers.Truncated("the answer ended with the connection")
	}
	if said, failed := p.errorAt(body); failed {
		return providers.InBand(a, said, 0)
	}
	if p.config.ResultPath == "" {
		return providers.Success(json.RawMessage(body), nil)
	}
	result := at(body, p.config.ResultPath)
	if result == nil {
		return providers.Unreadable("the answer says success and has nothing at result_path")
	}
	return providers.Success(result, nil)
}

// errorAt reads what is at error_path. Nothing, null, false, "", {} and [] say
// nothing.
func (p *provider) errorAt(body []byte) (providers.Refusal, bool) {
	if p.config.ErrorPath == "" {
		return providers.Refusal{}, false
	}
	raw := at(body, p.config.ErrorPath)
	switch string(bytes.Join(bytes.Fields(raw), nil)) {
	case "", "null", "false", `""`, "{}", "[]":
		return providers.Refusal{}, false
	}
	if said, ok := refusal(raw); ok {
		return said, true
	}
	return providers.Refusal{Message: string(raw)}, true
}

// envelope recognises the endpoint's own error, at error_path or by its shape.
func (p *provider) envelope(a providers.Answer) (providers.Refusal, bool) {
	if said, ok := p.errorAt(a.Body); ok {
		return said, true
	}
	return envelope(a)
}

func number(body []byte) bool { return body[0] == '-' || body[0] >= '0' && body[0] <= '9' }

// accepted finds the handle of a 202: at handle_path, else its Location.
func (p *provider) accepted(a providers.Answer) providers.Outcome {
	if p.config.LookupURL == "" {
		return providers.Untraceable()
	}
	handle := ""
	if p.config.HandlePath != "" {
		handle = find(a.Body, p.config.HandlePath)
	}
	if handle == "" {
		handle = p.location(a.Header.Get("Location"))
	}
	if handle == "" && !strings.Contains(p.config.LookupURL, "{attempt}") {
		return providers.Untraceable()
	}
	return providers.TakenOn(handle)
}

// location makes the Location of a 202 absolute (RFC 9110 §10.2.2).
func (p *provider) location(value string) string {
	if value == "" {
		return ""
	}
	base, err := url.Parse(p.config.URL)
	if err != nil {
		return ""
	}
	base.User = nil // a password is no part of a handle
	at, err := base.Parse(value)
	if err != nil {
		return ""
	}
	return at.String()
}

// envelope recognises the endpoint's own error: a problem (RFC 9457) or an
// object with a member error, a string or {message, code}.
func envelope(a providers.Answer) (providers.Refusal, bool) {
	var body struct {
		Error  json.RawMessage `json:"error"`
		Title  string          `json:"title"`
		Detail string          `json:"detail"`
		Type   string          `json:"type"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return providers.Refusal{}, false
	}
	if media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type")); media == "application/problem+json" {
		message := body.Title
		if body.Detail != "" {
			message = body.Detail
		}
		return providers.Refusal{Message: message}, true
	}
	return refusal(body.Error)
}

// refusal reads the member error; an empty one says nothing.
func refusal(raw json.RawMessage) (providers.Refusal, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return providers.Refusal{Message: text}, true
	}
	var members map[string]any
	if json.Unmarshal(raw, &members) != nil || len(members) == 0 {
		return providers.Refusal{}, false
	}
	message, _ := members["message"].(string)
	code, _ := members["code"].(string)
	return providers.Refusal{Message: message, Code: code}, true
}
