package contracts

import (
	"context"
	"strings"
	"time"

	"onejob/providers"
)

// Target is a configured provider of a route, as it is verified and bound.
type Target struct {
	Route    string
	Provider string // its name
	Type     string
	Model    string
	API      string
	BaseURL  string // of AI types
	URL      string // of type http
	Options  map[string]any
	// AI: it is sent messages and answers with content and a finish reason. Any
	// other is sent the variables themselves.
	AI bool

	// Execute side; not part of the binding.
	Call     providers.Provider
	Timeout  time.Duration // of silence; 0 is Deadline
	Deadline time.Duration // of one call; 0 is 10 min
	Tokens   TokenCounter  // the provider's own tokenizer; nil when it has none
}

// TokenCounter counts the tokens of messages as the provider's template renders
// them. ErrNoTokenizer says that there is none to ask.
type TokenCounter interface {
	CountTokens(ctx context.Context, messages []byte) (int, error)
}

// Bind is what a certificate of this target for this contract is bound to: a hash
// over the provider's name, type, API, model and addresses, the options a call is
// made with, the prompt, and the contract. Any change gives another, and voids the
// certificate at once (design §6). Credentials do not count: a key may be changed.
func Bind(t Target, c *Contract) (string, error) {
	return hashOf("binding", t.Route, t.Provider, t.Type, t.API, t.Model,
		strings.TrimRight(t.BaseURL, "/"), t.URL, c.options(t.Options), c.Prompt.String(), c.Hash())
}
