package api

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"onejob/auth"
	"onejob/faults"
	"onejob/jobs"
)

// What a door of another shape (api/openai) asks of the API, so that callers,
// keys, intents and waits are the same at every door (design §7). All errors
// become Problems where they are answered.

// Intent is one submission as a door has read it.
type Intent struct {
	Who auth.Identity
	Key string
	// Body is what the same caller would have sent to POST /v1/jobs. It is the
	// intent: the same key and body lead to the same job from every door.
	Body []byte
}

// Submit writes the intent down, or finds the job it made before. It does so
// also for a caller who has hung up: he sent it, and will ask for it again.
func (s *Server) Submit(ctx context.Context, i Intent) (jobs.Submitted, error) {
	request, p := parseSubmit(i.Body)
	if p != nil {
		s.metrics.submitted("", nil, jobs.Submitted{}, p)
		return jobs.Submitted{}, p
	}
	submitted, err := s.intend(ctx, i, request)
	s.metrics.submitted(request.Route, s.config.Routes, submitted, err)
	return submitted, err
}

// intend is Submit of an intent that could be read.
func (s *Server) intend(ctx context.Context, i Intent, request *submitRequest) (jobs.Submitted, error) {
	if p := request.checkRoute(s.config.Routes); p != nil {
		return s.knownOr(ctx, i, request, p)
	}
	if p := s.checkWebhook(ctx, i.Who.Owner, request); p != nil {
		return s.knownOr(ctx, i, request, p)
	}
	ctx, cancel := decided(ctx)
	defer cancel()
	made, err := s.limitJobs(ctx, i)
	if err != nil {
		return jobs.Submitted{}, err
	}
	submitted, err := s.record(ctx, i, request)
	made(submitted, err)
	if err == nil {
		err = faults.Point(faults.Submitted)
	}
	if err != nil {
		return jobs.Submitted{}, err
	}
	s.wake(ctx, submitted.Wakes)
	return submitted, nil
}

// Reader tells who sent r. A refusal sets the challenge that goes with a 401.
func (s *Server) Reader(w http.ResponseWriter, r *http.Request) (auth.Identity, error) {
	return s.admit(w, r, readers)
}

// Writer is Reader for calls that make a job: a viewer is refused.
func (s *Server) Writer(w http.ResponseWriter, r *http.Request) (auth.Identity, error) {
	return s.admit(w, r, writers)
}

// IdempotencyKey reads the one key of a request.
func IdempotencyKey(h http.Header) (string, error) {
	key, p := idempotencyKey(h)
	if p != nil {
		return "", p
	}
	return key, nil
}

// ReadBody reads the JSON body of r, of at most 1 MiB.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, p := readBody(w, r)
	if p != nil {
		return nil, p
	}
	return body, nil
}

// Members splits body, which must be one JSON object in the strict sense of
// POST /v1/jobs, into its members, each as the caller wrote it.
func Members(body []byte) (map[string]jsontext.Value, error) {
	f, _, _, p := members(body)
	if p != nil {
		return nil, p
	}
	return f, nil
}
