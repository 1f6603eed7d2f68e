package providers

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is one provider of the configuration (design §8), as a Factory gets it.
// Which fields a type needs is its own matter; the others stay zero.
type Config struct {
	Name string // of this provider, as routes name it
	Type string // of its Factory

	// Of type http. {attempt} and {handle} are replaced, path-escaped.
	URL       string
	LookupURL string
	CancelURL string
	// HandlePath finds the handle in the body of a 202: a JSON Pointer
	// (RFC 6901) when it begins with a slash, else names separated by dots.
	HandlePath string
	// Body is the template of a create's body, in JSON's types (package
	// providers/http says how it is filled); nil means the type's own shape.
	Body any
	// ResultPath finds the result in the body of a success, ErrorPath the
	// endpoint's own error in any body; both are written like HandlePath. Empty:
	// the whole body, and the type's own envelopes.
	ResultPath string
	ErrorPath  string

	// Of AI types.
	BaseURL string
	APIKey  string
	Model   string
	API     string // which of the provider's APIs, where it has several

	// Headers are sent with every request; their values are treated as secrets.
	Headers map[string]string
	// Options are sent with every call; a job's params go over them.
	Options map[string]any

	// Timeout and Deadline are kept by the caller of Execute (its context and
	// Wire.LastActivity); they are here for types that pass them on.
	Timeout  time.Duration
	Deadline time.Duration

	// Transport carries the creates; nil means SharedTransport. It must keep what
	// Transport promises.
	Transport http.RoundTripper
}

// Secrets lists what must not be said about this provider.
func (c Config) Secrets() Secrets {
	secrets := Secrets{c.APIKey}
	for _, value := range c.Headers {
		// "Bearer x", "Basic x": x alone is as secret as the whole.
		if _, bare, ok := strings.Cut(value, " "); ok {
			secrets = append(secrets, value, bare)
		} else {
			secrets = append(secrets, value)
		}
	}
	for _, address := range []string{c.URL, c.LookupURL, c.CancelURL, c.BaseURL} {
		secrets = append(secrets, secretsOfURL(address)...)
	}
	// The longest first, so that no remainder of one stays behind another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}

// Factory makes a provider of one type. An error names the setting at fault.
type Factory func(Config) (Provider, error)

// Registry knows the types of providers. It is safe for concurrent use; the
// zero value knows none.
type Registry struct {
	mu        sync.RWMutex
	factories map[string]Factory
}

// ErrTypeTaken is returned for a second type of one name.
var ErrTypeTaken = errors.New("a provider type of this name is registered already")

// Register adds a type. A name can be registered once.
func (r *Registry) Register(name string, factory Factory) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "" || factory == nil {
		return fmt.Errorf("registering provider type %q: a name and a factory are needed", name)
	}
	if _, taken := r.factories[name]; taken {
		return fmt.Errorf("registering provider type %q: %w", name, ErrTypeTaken)
	}
	if r.factories == nil {
		r.factories = make(map[string]Factory)
	}
	r.factories[name] = factory
	return nil
}

// New makes the provider that c describes.
func (r *Registry) New(c Config) (Provider, error) {
	r.mu.RLock()
	factory, ok := r.factories[c.Type]
	r.mu.RUnlock()
	if !ok {
		return nil, fmt.Errorf("provider %s: unknown type %q; known are %s", c.Name, c.Type, strings.Join(r.Types(), ", "))
	}
	provider, err := factory(c)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	return provider, nil
}

// Types lists the known types in alphabetical order.
func (r *Registry) Types() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	types := make([]string, 0, len(r.factories))
	for name := range r.factories {
		types = append(types, name)
	}
	slices.Sort(types)
	return types
}
