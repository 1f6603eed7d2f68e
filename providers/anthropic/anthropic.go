// Package anthropic is the provider type anthropic: the Messages API through the
// official SDK (design §5, §8).
//
// The SDK's retries, its time-out and its settings from the environment are off.
// Answers are streamed unless the options say stream: false, so that silence on
// the connection means that no tokens come; what is taken is the whole message
// with its stop reason, and a stream that ends without message_stop is unknown.
//
// The API keeps nothing that an attempt could be found by: there is no look-up,
// no cancel and no idempotency. The attempt's id goes along as X-Onejob-Attempt.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"onejob/providers"
)

// Type is the name of this provider type in the configuration.
const Type = "anthropic"

// DefaultMaxTokens is sent as max_tokens where the options have none: the API
// requires it.
const DefaultMaxTokens = 4096

// Version is the API's version that is asked for, unless the configured headers
// name another: the last one that takes a temperature, which contracts send.
// 2026-10-21 answers 400 to temperature, top_p and top_k.
const Version = "2023-06-01"

// path of the API, relative to the base URL.
const path = "v1/messages"

type provider struct {
	config  providers.Config
	client  sdk.Client
	secrets providers.Secrets
	stream  bool
}

// New makes a provider for base_url and model. It can neither look up nor cancel.
func New(c providers.Config) (providers.Provider, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(providers.Client(c.Transport)),
		option.WithMaxRetries(0),
	}
	opts = append(opts, option.WithHeader("Anthropic-Version", Version))
	if c.APIKey != "" {
		// What every server of this API takes; the SDK would send it as a bearer token.
		opts = append(opts, option.WithHeader("X-Api-Key", c.APIKey))
	}
	for name, value := range c.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	return &provider{
		config: c, client: sdk.NewClient(opts...), secrets: c.Secrets(), stream: c.Options["stream"] != false,
	}, nil
}

func check(c providers.Config) error {
	if err := providers.CheckURL("base_url", c.BaseURL); err != nil {
		return err
	}
	switch {
	case c.Model == "":
		return errors.New("model is missing")
	case c.API != "":
		return errors.New("api is not known here; there is only one")
	}
	for _, name := range []string{"messages", "model"} {
		if _, set := c.Options[name]; set {
			return fmt.Errorf("options: %s cannot be an option", name)
		}
	}
	if value, set := c.Options["stream"]; set && value != true && value != false {
		return errors.New("options: stream must be true or false")
	}
	return nil
}

// Execute makes the one create of the attempt.
func (p *provider) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	wire := call.Wire
	if wire == nil {
		wire = providers.NewWire(nil)
	}
	body, err := p.body(call)
	if err != nil {
		outcome := providers.Invalid(err.Error())
		outcome.Evidence = wire.Evidence()
		return outcome
	}
	seen := providers.Exchange{ReadStream: readStream, Begins: "event:"}
	opts := []option.RequestOption{option.WithMiddleware(seen.Middleware(wire))}
	headers := http.Header{}
	providers.Identify(headers, call)
	for name := range headers {
		opts = append(opts, option.WithHeader(name, headers.Get(name)))
	}
	err = p.client.Post(providers.WithWire(ctx, wire), path, []byte(body), nil, opts...)
	judge := providers.Judge{Envelope: envelope, Understand: func(a providers.Answer) providers.Outcome {
		return understand(a, seen.Streamed())
	}, Secrets: p.secrets}
	return judge.Outcome(ctx, wire, seen.Answer(err))
}
