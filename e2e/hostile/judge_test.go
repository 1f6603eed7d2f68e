package hostile

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// judge holds answers against what is promised.
type judge struct{ problems map[string]bool }

// ofNetHTTP are what net/http answers by itself, in plain text, to what is no
// request: RFC 9112 asks for 400, 417, 431 and 505, and for 501 where a transfer
// coding is not known.
var ofNetHTTP = []int{
	http.StatusBadRequest, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported,
}

// statusGone is what a client sees that has said it sends nothing any more: onejob
// takes it for one that has gone.
const statusGone = 499

// check says what is wrong with an answer.
func (j *judge) check(r *request, a *answer) error {
	if a.hungUp && a.status == 0 {
		return nil
	}
	if a.header.Get("X-Request-Id") == "" {
		if r.method == http.MethodOptions && r.target == "*" && a.status == http.StatusOK {
			return nil // of the server as a whole (RFC 9110 §9.3.7), which net/http answers
		}
		if !r.protocol || !slices.Contains(ofNetHTTP, a.status) {
			return fmt.Errorf("status %d without a request id: %q", a.status, clip(a.body))
		}
		return nil
	}
	switch {
	case a.status == statusGone && r.shut:
		return nil
	case a.status >= http.StatusInternalServerError:
		return j.checkDoor(r, a)
	case r.op != nil && !r.strayed && !r.op.statuses[a.status] && !r.protocol:
		return fmt.Errorf("%s does not say that it answers %d: %q", r.op.name, a.status, clip(a.body))
	case a.status < http.StatusBadRequest || r.method == http.MethodHead || a.hungUp:
		return nil
	}
	return j.checkError(r, a)
}

// checkDoor takes one answer of the server's own for no mistake: that of the
// OpenAI-compatible door to a job that was not done, whose statuses are OpenAI's.
func (j *judge) checkDoor(r *request, a *answer) error {
	wrong := fmt.Errorf("status %d: %q", a.status, clip(a.body))
	if !strings.Contains(r.target, "/openai/v1/chat/completions") || a.status == http.StatusInternalServerError {
		return wrong
	}
	var e envelope
	if json.Unmarshal(a.body, &e) != nil || a.header.Get("X-Job-Id") == "" {
		return wrong
	}
	return nil
}

type envelope struct {
	Error struct{ Message, Type, Code string }
}

// checkError wants the shape errors have at the door they came to.
func (j *judge) checkError(r *request, a *answer) error {
	switch {
	case a.media() == "application/problem+json":
		return j.checkProblem(a)
	case a.media() == "text/html" && strings.Contains(r.target, "/dashboard"):
		return nil
	case a.media() == "text/plain" && (strings.Contains(r.target, "/monitor") || strings.Contains(r.target, "/dashboard/static/")):
		return nil // asynqmon's own words
	case len(a.body) == 0 && a.status == http.StatusMethodNotAllowed && strings.Contains(r.target, "/monitor"):
		return nil
	case a.media() == "application/json":
		var e envelope
		if err := json.Unmarshal(a.body, &e); err != nil || e.Error.Message == "" || e.Error.Type == "" || e.Error.Code == "" {
			return fmt.Errorf("not OpenAI's envelope: %q", clip(a.body))
		}
		return nil
	}
	return fmt.Errorf("an error of type %q: %d %q", a.media(), a.status, clip(a.body))
}

func (j *judge) checkProblem(a *answer) error {
	var p struct {
		Type, Title, Detail, Hint string
		Status                    int
		RequestID                 string `json:"request_id"`
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		return fmt.Errorf("a problem that is not JSON: %w: %q", err, clip(a.body))
	}
	switch {
	case !j.problems[path.Base(p.Type)]:
		return fmt.Errorf("a problem of no known type: %q", clip(a.body))
	case p.Status != a.status:
		return errors.New("a problem that says another status than the answer")
	case p.Title == "" || p.Detail == "" || p.Hint == "" || p.RequestID != a.header.Get("X-Request-Id"):
		return fmt.Errorf("a problem that lacks something: %q", clip(a.body))
	}
	return nil
}

func clip(b []byte) string {
	if len(b) > 400 {
		return string(b[:400]) + "…"
	}
	return string(b)
}
