package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"onejob/auth"
)

// answerTime is how long a caller waits for an answer.
const answerTime = 6 * time.Second

// request is what a caller asks of an API.
type request struct {
	kind, story  string
	owner, key   string // key: the Idempotency-Key, of a submit
	api          int    // the first one asked
	method, path string
	body         string
	ifMatch      int64 // 0: any version
	wait         int   // seconds (Prefer); 0: not
}

const (
	ownerDev, ownerOther, operator = "dev", "other", "operator"
)

var tokens = map[string]string{ownerDev: auth.DevKey, ownerOther: auth.OtherKey, operator: auth.DevOperatorKey}

// ask makes one request, once, through the proxy, and puts it into the history.
func (w *world) ask(ctx context.Context, r request) call {
	c := call{
		Key: r.story, Owner: r.owner, IdemKey: r.key, Kind: r.kind, Path: r.path, Body: r.body, IfMatch: r.ifMatch,
		Start: time.Now(),
	}
	api := w.apis[r.api%apis]
	api.asked.Add(1)
	if resp, raw, err := w.send(ctx, "http://"+api.proxied, r); err == nil {
		_ = c.hear(resp, raw) // what cannot be read is no answer
	}
	api.asked.Add(-1)
	c.End = time.Now()
	w.history.add(c)
	return c
}

func (w *world) send(ctx context.Context, base string, r request) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, base+r.path, strings.NewReader(r.body))
	if err != nil {
		return nil, nil, fmt.Errorf("making a request: %w", err)
	}
	req.GetBody = nil // every call is one request
	req.Header.Set("Authorization", "Bearer "+tokens[r.owner])
	req.Header.Set("Content-Type", "application/json")
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if r.ifMatch > 0 {
		req.Header.Set("If-Match", fmt.Sprintf(`"v%d"`, r.ifMatch))
	}
	if r.wait > 0 {
		req.Header.Set("Prefer", "wait="+strconv.Itoa(r.wait))
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("asking: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("reading an answer: %w", err)
	}
	return resp, raw, nil
}

// until repeats a request, at the other API each time, until somebody says yes or no.
func (w *world) until(ctx context.Context, r request) call {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		c := w.ask(ctx, r)
		if c.answered() || !rest(ctx, wait) {
			return c
		}
		r.api++
	}
}

// look reads something as an operator from an API itself, not through a proxy: it is
// no part of the history. It asks again until it is answered.
func (w *world) look(ctx context.Context, path string, into any) error {
	r := request{owner: operator, method: http.MethodGet, path: path}
	var last error
	for i := range 120 {
		resp, raw, err := w.send(ctx, "http://"+w.apis[i%apis].addr, r)
		switch {
		case err != nil:
			last = err
		case resp.StatusCode != http.StatusOK:
			last = fmt.Errorf("%s was answered %d: %.300s", path, resp.StatusCode, raw)
		default:
			if last = json.Unmarshal(raw, into); last == nil {
				return nil
			}
		}
		if !rest(ctx, 250*time.Millisecond) {
			break
		}
	}
	return fmt.Errorf("looking at %s: %w", path, last)
}

// rest waits for a time that is one: a pause, or the one before the next look. It is
// false when ctx ended before.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
