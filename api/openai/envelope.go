package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"onejob/api"
)

// envelope is an error as OpenAI's clients read it.
type envelope struct {
	Error said `json:"error"`
}

type said struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// failure is an answer that is an error, from a job or from the API.
type failure struct {
	status int
	retry  string // of x-should-retry; empty leaves it to the client
	after  string // of Retry-After, in seconds; empty: none
	said   said
}

// kindOf is the type that OpenAI gives errors of a status.
func kindOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request_error"
}

// write answers with the error, where nothing was answered yet.
func (f *failure) write(w http.ResponseWriter) error {
	body, err := f.encode()
	if err != nil {
		return err
	}
	h := w.Header()
	if f.retry != "" {
		h.Set("X-Should-Retry", f.retry)
	}
	if f.after != "" {
		h.Set("Retry-After", f.after)
	}
	return send(w, f.status, body)
}

func (f *failure) encode() ([]byte, error) {
	f.said.Type = kindOf(f.status)
	return encode(envelope{f.said})
}

// AnswerProblem answers what the API refused in OpenAI's envelope.
func (d *Door) AnswerProblem(w http.ResponseWriter, p *api.Problem) error {
	if p.Job != "" {
		w.Header().Set(headerJob, p.Job)
	}
	return d.problem(p).write(w)
}

// problem says a problem of the API in OpenAI's words. Its code is the problem's
// name with underscores.
func (d *Door) problem(p *api.Problem) *failure {
	f := &failure{status: p.Status, said: said{
		Message: p.Detail + " " + p.Hint, Code: strings.ReplaceAll(p.Name(), "-", "_"),
	}}
	if param := paramOf(p.Field); param != "" {
		f.said.Param = &param
	}
	switch p.Name() {
	case "idempotency-key-missing":
		f.said.Message = p.Detail + " " + howToSendAKey
	case "not-found":
		f.said.Message = p.Detail // its hint is about jobs
	case "unauthorized":
		f.said.Code = "invalid_api_key"
	case "route-unknown":
		f.status, f.said.Code = http.StatusNotFound, "model_not_found"
		f.said.Message = p.Detail + " " + d.models()
	}
	return f
}

// howToSendAKey is the one line a caller has to add.
const howToSendAKey = `Add one line to the call, with a key of your own for each new intent, and keep it when you retry. ` +
	`JavaScript, second argument: { headers: { 'Idempotency-Key': 'order-1042' } }. ` +
	`Python: extra_headers={"Idempotency-Key": "order-1042"}. ` +
	`Go: option.WithHeader("Idempotency-Key", "order-1042"). ` +
	`curl: -H 'Idempotency-Key: order-1042'.`

func send(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	return nil
}

// encode is json.Marshal with <, > and & as they are.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	return bytes.TrimRight(body.Bytes(), "\n"), nil
}
