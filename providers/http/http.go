// Package httpprovider is the provider type http: any endpoint that takes JSON
// (design §8).
//
// A create is POST {job, attempt, input, params}, or what the configured body
// makes of them, with the attempt id as Idempotency-Key and X-Onejob-Attempt. A
// 200 or 201 with a JSON body is the result, or holds it at result_path; a 202 means that it was accepted, and is asked for later at lookup_url.
// How every other answer is judged is the same for all types: see
// providers.Judge. The endpoint's own error is an application/problem+json body
// (RFC 9457), a JSON object with a member error, or one with something at
// error_path.
package httpprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"onejob/providers"
)

// Type is the name of this provider type in the configuration.
const Type = "http"

// ours are the headers that a configuration may not set.
var ours = map[string]bool{
	"Content-Type": true, "Content-Length": true, "Transfer-Encoding": true, "Host": true,
	"Idempotency-Key": true, "Traceparent": true,
	"X-Onejob-Attempt": true, "X-Onejob-Job": true, "X-Onejob-Not-After": true,
}

type provider struct {
	config   providers.Config
	client   *http.Client
	secrets  providers.Secrets
	template *template // nil: the body of design §8
}

// The combinations of what a configuration lets the provider do: what it cannot
// do, it does not implement.
type (
	lookupable  struct{ *provider }
	cancellable struct{ *provider }
	both        struct{ *provider }
)

func (p lookupable) Lookup(ctx context.Context, ref providers.Ref) providers.Outcome {
	return p.lookup(ctx, ref)
}

func (p cancellable) Cancel(ctx context.Context, ref providers.Ref) error { return p.cancel(ctx, ref) }

func (p both) Lookup(ctx context.Context, ref providers.Ref) providers.Outcome {
	return p.lookup(ctx, ref)
}
func (p both) Cancel(ctx context.Context, ref providers.Ref) error { return p.cancel(ctx, ref) }

// New makes a provider for url. It implements providers.Lookuper with a
// lookup_url and providers.Canceler with a cancel_url.
func New(c providers.Config) (providers.Provider, error) {
	if err := providers.CheckURL("url", c.URL); err != nil {
		return nil, err
	}
	for setting, address := range map[string]string{"lookup_url": c.LookupURL, "cancel_url": c.CancelURL} {
		if address == "" {
			continue
		}
		if err := providers.CheckURL(setting, address); err != nil {
			return nil, err
		}
		if !providers.NamesAttempt(address) {
			return nil, fmt.Errorf("%s must contain {attempt} or {handle}", setting)
		}
	}
	for name := range c.Headers {
		if ours[http.CanonicalHeaderKey(name)] {
			return nil, fmt.Errorf("headers: %s is set by onejob", name)
		}
	}
	p := &provider{config: c, client: providers.Client(c.Transport), secrets: c.Secrets()}
	if c.Body != nil {
		body, err := newTemplate(c.Body)
		if err != nil {
			return nil, err
		}
		p.template = &body
	}
	switch {
	case c.LookupURL != "" && c.CancelURL != "":
		return both{p}, nil
	case c.LookupURL != "":
		return lookupable{p}, nil
	case c.CancelURL != "":
		return cancellable{p}, nil
	default:
		return p, nil
	}
}

// Execute makes the one create of the attempt.
func (p *provider) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	wire := call.Wire
	if wire == nil {
		wire = providers.NewWire(nil)
	}
	req, err := p.create(providers.WithWire(ctx, wire), call)
	if err != nil {
		outcome := providers.Invalid(err.Error())
		outcome.Evidence = wire.Evidence()
		return outcome
	}
	judge := providers.Judge{Envelope: p.envelope, Understand: p.understand, Secrets: p.secrets}
	outcome := judge.Outcome(ctx, wire, providers.Do(p.client, req, providers.MaxResult))
	if outcome.Kind == providers.Accepted && call.Accept != nil && outcome.Handle != "" {
		// A handle that could not be stored is still in the outcome.
		_ = call.Accept(ctx, outcome.Handle)
	}
	return outcome
}

// create builds the request. The not-after time is RFC 3339 in UTC with
// milliseconds.
func (p *provider) create(ctx context.Context, call *providers.Call) (*http.Request, error) {
	body, err := p.body(call)
	if err != nil {
		return nil, err
	}
	address, err := providers.Expand(p.config.URL, providers.Ref{JobID: call.JobID, AttemptID: call.AttemptID})
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	req, err := p.request(ctx, http.MethodPost, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Idempotency-Key", call.AttemptID)
	providers.Identify(req.Header, call)
	return req, nil
}

// body is {job, attempt, input, params, callback_url?}, or the configured one. It
// is the same for every repetition of a call.
func (p *provider) body(call *providers.Call) (json.RawMessage, error) {
	params, err := providers.Merge(p.config.Options, call.Params)
	if err != nil {
		return nil, err
	}
	if !json.Valid(call.Input) {
		return nil, errors.New("the input is no JSON")
	}
	if p.template == nil {
		return providers.Encode(struct {
			Job         string `json:"job"`
			Attempt     string `json:"attempt"`
			Input       any    `json:"input"`
			Params      any    `json:"params"`
			CallbackURL string `json:"callback_url,omitempty"`
		}{call.JobID, call.AttemptID, call.Input, params, call.CallbackURL})
	}
	values := map[string]json.RawMessage{"input": call.Input}
	for name, value := range map[string]any{
		"params": params, "job": call.JobID, "attempt": call.AttemptID, "callback_url": call.CallbackURL,
	} {
		if values[name], err = providers.Encode(value); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", name, err)
		}
	}
	return p.template.fill(values)
}

// request builds a request with the configured headers; body may be nil.
func (p *provider) request(ctx context.Context, method, address string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the URL cannot be called") // its text may hold a password
	}
	for name, value := range p.config.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}
