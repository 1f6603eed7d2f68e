// Package replicate is the provider type replicate: predictions of Replicate's
// API, and of a model server built with Cog (design §5, §8). There is no official
// Go SDK to build on, so it speaks HTTP itself, through the shared transport.
//
// A job's input is the prediction's, over the configured options; where it is
// {messages: […]}, the text of its user message becomes prompt, that of system
// messages system_prompt.
//
// Replicate (api empty): POST predictions answers at once with an id, which is
// the attempt's handle. The end is asked for by it and, with callbacks on,
// reported at the attempt's own URL. Cancel-After tells Replicate to give up when
// nobody listens any more. When the answer to the create was lost, the list of
// predictions is searched for the attempt's webhook URL: nothing else in it says
// for certain which prediction is whose.
//
// Cog (api: cog): PUT predictions/<attempt id> answers when the prediction has
// ended, or, with callbacks on, at once. Cog cannot be asked what became of one.
// A repetition under the same id joins the prediction while it runs, but runs it
// again after its end: declare idempotent_create only for a model of which a
// second run does no harm.
package replicate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"onejob/providers"
)

// Type is the name of this provider type in the configuration.
const Type = "replicate"

// Values of the setting api: Replicate's own, which is meant without one, too, and
// a server built with Cog.
const (
	apiPredictions = "predictions"
	apiCog         = "cog"
)

type provider struct {
	config  providers.Config
	client  *http.Client
	secrets providers.Secrets
}

// hosted is Replicate's own API.
type hosted struct{ *provider }

// cog is a model server. It can cancel, and cannot be asked.
type cog struct{ *provider }

// New makes a provider for base_url and model. Replicate's implements
// providers.Lookuper and providers.Canceler; with api: cog only the latter, and
// needs no model. A model is owner/name, owner/name:version or a version.
func New(c providers.Config) (providers.Provider, error) {
	if err := providers.CheckURL("base_url", c.BaseURL); err != nil {
		return nil, err
	}
	p := &provider{config: c, client: providers.Client(c.Transport), secrets: c.Secrets()}
	switch {
	case c.API == apiCog:
		return cog{p}, nil
	case c.API != "" && c.API != apiPredictions:
		return nil, fmt.Errorf("api: %q is unknown; known are %s and %s", c.API, apiPredictions, apiCog)
	case c.Model == "":
		return nil, errors.New("model is missing")
	}
	return hosted{p}, nil
}

// Execute makes the one create of the attempt.
func (h hosted) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	address, body, err := h.create(call)
	if err != nil {
		return invalid(call, err)
	}
	headers := http.Header{}
	if after := cancelAfter(ctx, h.config.Deadline); after != "" {
		headers.Set("Cancel-After", after)
	}
	return h.send(ctx, call, http.MethodPost, address, body, headers)
}

// Execute makes the one create of the attempt, or repeats it.
func (c cog) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	body, err := c.cogBody(call)
	if err != nil {
		return invalid(call, err)
	}
	headers := http.Header{}
	if call.CallbackURL != "" {
		headers.Set("Prefer", "respond-async")
	}
	return c.send(ctx, call, http.MethodPut, c.address("predictions", call.AttemptID), body, headers)
}

// Cancel asks to stop the prediction. One that has ended or is not known any more
// is no error: there is nothing to stop.
func (h hosted) Cancel(ctx context.Context, ref providers.Ref) error {
	if ref.Handle == "" {
		return fmt.Errorf("asking to cancel: %w", providers.ErrNoHandle)
	}
	return h.cancel(ctx, ref, ref.Handle)
}

// Cancel asks to stop the prediction, which is known by the attempt's id. Cog
// stops only what it was asked to do asynchronously, with callbacks on.
func (c cog) Cancel(ctx context.Context, ref providers.Ref) error {
	return c.cancel(ctx, ref, ref.AttemptID)
}

// send makes the create and judges its answer.
func (p *provider) send(
	ctx context.Context, call *providers.Call, method, address string, body []byte, headers http.Header,
) providers.Outcome {
	wire := wireOf(call)
	req, err := p.request(providers.WithWire(ctx, wire), method, address, body)
	if err != nil {
		return invalid(call, err)
	}
	for name := range headers {
		req.Header.Set(name, headers.Get(name))
	}
	providers.Identify(req.Header, call)
	judge := providers.Judge{Envelope: envelope, Understand: p.understand, Secrets: p.secretsOf(call)}
	outcome := judge.Outcome(ctx, wire, providers.Do(p.client, req, providers.MaxResult))
	if outcome.Kind == providers.Accepted && call.Accept != nil {
		// A handle that could not be stored is still in the outcome.
		_ = call.Accept(ctx, outcome.Handle)
	}
	return outcome
}

// secretsOf adds the callback URL, which whoever has it can report at.
func (p *provider) secretsOf(call *providers.Call) providers.Secrets {
	if call.CallbackURL == "" {
		return p.secrets
	}
	return append(providers.Secrets{call.CallbackURL}, p.secrets...)
}

func (p *provider) cancel(ctx context.Context, ref providers.Ref, id string) error {
	req, err := p.request(ctx, http.MethodPost, p.address("predictions", id, "cancel"), nil)
	if err != nil {
		return fmt.Errorf("asking to cancel: %w", err)
	}
	req.Header.Set("X-Onejob-Attempt", ref.AttemptID)
	answer := providers.Do(p.client, req, providers.MaxResult)
	switch answer.Status {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent,
		http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusGone:
		if answer.Err == nil {
			return nil
		}
	}
	return fmt.Errorf("asking to cancel: %s", answer.Said(p.secrets))
}

// address appends path segments to the base URL, escaped.
func (p *provider) address(segments ...string) string {
	parts := []string{strings.TrimRight(p.config.BaseURL, "/")}
	for _, segment := range segments {
		parts = append(parts, url.PathEscape(segment))
	}
	return strings.Join(parts, "/")
}

// request builds a request with the credential and the configured headers; body
// may be nil.
func (p *provider) request(ctx context.Context, method, address string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL cannot be called") // its text may hold a password
	}
	if p.config.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+p.config.APIKey)
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

func wireOf(call *providers.Call) *providers.Wire {
	if call.Wire == nil {
		return providers.NewWire(nil)
	}
	return call.Wire
}

func invalid(call *providers.Call, err error) providers.Outcome {
	outcome := providers.Invalid(err.Error())
	outcome.Evidence = wireOf(call).Evidence()
	return outcome
}
