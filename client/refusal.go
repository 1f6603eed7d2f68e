package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxProblem bounds what is read of an answer that is no success, in bytes.
const maxProblem = 256 << 10

// refusal judges an answer that is no success.
func refusal(r *http.Response) *failure {
	p := problemOf(r)
	f := &failure{err: p, after: p.RetryAfter}
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusTooEarly:
		f.again = true
	case http.StatusRequestTimeout:
		f.again, f.arrived = true, true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
	default:
		// Somebody in between may speak for a server that has done the work.
		f.again = r.StatusCode >= http.StatusInternalServerError
		f.arrived = f.again
	}
	if r.Header.Get("X-Should-Retry") == "false" {
		f.again = false
	}
	f.settles = p.Name != "" && slices.Contains(settling, r.StatusCode)
	return f
}

// settling are answers by which the server has judged the key and the body: no try
// before made a job of them that it does not name.
var settling = []int{
	http.StatusBadRequest, http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge,
	http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

// problemOf reads the problem of an answer, or makes one of what is there instead.
func problemOf(r *http.Response) *Problem {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxProblem)) // what came of it will do
	p := &Problem{}
	if isJSON(r.Header) {
		_ = json.Unmarshal(body, p) // a member of another shape takes nothing from the others
	}
	if p.Type == "" {
		p = &Problem{Title: http.StatusText(r.StatusCode), Detail: foreign(r, body)}
	}
	if _, name, ok := strings.Cut(p.Type, "/problems/"); ok {
		p.Name = name
	}
	p.Status = r.StatusCode
	p.RetryAfter = retryAfter(r.Header, time.Now())
	return p
}

// foreign says what an answer is that no onejob server gives.
func foreign(r *http.Response, body []byte) string {
	if to := r.Header.Get("Location"); to != "" && r.StatusCode < http.StatusBadRequest {
		return fmt.Sprintf("The answer is a redirect to %q. Redirects are not followed: use that server's own address.", to)
	}
	const most = 200
	text := strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, string(body[:min(len(body), most)]))
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return "The answer is not from a onejob server, and empty."
	}
	return "The answer is not from a onejob server: " + text
}

// retryAfter reads seconds or a date (RFC 9110 §10.2.3); 0 where there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	const most = 24 * 60 * 60 // in seconds; also what keeps it from overflowing
	if n, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(n, 0), most)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), most*time.Second)
	}
	return 0
}
