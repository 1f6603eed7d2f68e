// Package openai is the provider type openai: Chat Completions, or Responses in
// background mode, of any server that speaks OpenAI's API, through the official
// SDK (design §5, §8).
//
// The SDK's retries, its time-out and its settings from the environment are off.
// Answers are streamed unless the options say stream: false, so that silence on
// the connection means that no tokens come; what is taken is the whole answer
// with its finish reason, and a stream that ends without one is unknown.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"onejob/providers"
)

// Type is the name of this provider type in the configuration.
const Type = "openai"

// path of Chat Completions, relative to the base URL.
const path = "chat/completions"

// Values of the setting api.
const (
	apiChat      = "chat"
	apiResponses = "responses"
)

type provider struct {
	config  providers.Config
	client  sdk.Client
	secrets providers.Secrets
	stream  bool
	store   bool
}

// New makes a provider for base_url and model. With api: chat, the default, it
// implements providers.Lookuper when the options say store: true, and cannot
// cancel. With api: responses it implements providers.Lookuper and
// providers.Canceler.
func New(c providers.Config) (providers.Provider, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	opts := []option.RequestOption{
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(providers.Client(c.Transport)),
		option.WithMaxRetries(0),
	}
	if c.APIKey != "" {
		opts = append(opts, option.WithAPIKey(c.APIKey))
	}
	for name, value := range c.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	p := &provider{
		config: c,
		// A literal, because NewClient would read OPENAI_… from the environment.
		client:  sdk.Client{Options: opts},
		secrets: c.Secrets(),
		stream:  c.Options["stream"] != false,
		store:   c.Options["store"] == true,
	}
	switch {
	case c.API == apiResponses:
		return background{p}, nil
	case p.store:
		return stored{p}, nil
	}
	return p, nil
}

func check(c providers.Config) error {
	if err := providers.CheckURL("base_url", c.BaseURL); err != nil {
		return err
	}
	switch {
	case c.Model == "":
		return errors.New("model is missing")
	case c.API != "" && c.API != apiChat && c.API != apiResponses:
		return fmt.Errorf("api: %q is unknown; known are chat and responses", c.API)
	}
	for _, name := range []string{"messages", "model"} {
		if _, set := c.Options[name]; set {
			return fmt.Errorf("options: %s cannot be an option", name)
		}
	}
	if c.API == apiResponses {
		return checkResponses(c.Options)
	}
	for _, name := range []string{"stream", "store"} {
		if value, set := c.Options[name]; set && value != true && value != false {
			return fmt.Errorf("options: %s must be true or false", name)
		}
	}
	return nil
}

// Execute makes the one create of the attempt.
func (p *provider) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	return p.create(ctx, call, path, p.body, func(seen *providers.Exchange) func(providers.Answer) providers.Outcome {
		return func(a providers.Answer) providers.Outcome { return understand(a, seen.Streamed()) }
	})
}

// exchange takes an answer of this API.
func exchange() *providers.Exchange {
	return &providers.Exchange{ReadStream: readStream, Begins: "data:"}
}

// create POSTs what build makes of the call, and judges the answer as understand
// reads it.
func (p *provider) create(
	ctx context.Context, call *providers.Call, path string,
	build func(*providers.Call) (json.RawMessage, error),
	understand func(*providers.Exchange) func(providers.Answer) providers.Outcome,
) providers.Outcome {
	wire := call.Wire
	if wire == nil {
		wire = providers.NewWire(nil)
	}
	body, err := build(call)
	if err != nil {
		outcome := providers.Invalid(err.Error())
		outcome.Evidence = wire.Evidence()
		return outcome
	}
	seen := exchange()
	opts := []option.RequestOption{
		option.WithMiddleware(seen.Middleware(wire)),
		option.WithHeader("Idempotency-Key", call.AttemptID),
	}
	headers := http.Header{}
	providers.Identify(headers, call)
	for name := range headers {
		opts = append(opts, option.WithHeader(name, headers.Get(name)))
	}
	err = p.client.Post(providers.WithWire(ctx, wire), path, []byte(body), nil, opts...)
	judge := providers.Judge{Envelope: envelope, Understand: understand(seen), Secrets: p.secrets}
	return judge.Outcome(ctx, wire, seen.Answer(err))
}
