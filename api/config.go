package api

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"onejob/jobs"
	"onejob/tracing"
)

// Config is what the API needs to know. The zero value serves, but knows no
// route.
type Config struct {
	// Log gets one line a request and every error; never payloads or keys.
	// Defaults to nothing.
	Log *slog.Logger

	// CheckResult holds a result that a person gives an attempt against the output
	// rules of its route; the error says which it breaks. Defaults to taking all.
	CheckResult func(route string, result json.RawMessage) error

	// CheckWebhook tells whether deliveries could be made to a webhook_url of an
	// owner's: nil, a *WebhookRefusal, or that the store cannot be asked. Defaults to
	// refusing all.
	CheckWebhook func(ctx context.Context, owner, address string) error

	// Limits tell how much an owner may ask for. Defaults to everything.
	Limits Limits

	// PolicyFor is the plan of a route, for a decision that says then: continue;
	// nil for a route it does not know. Defaults to knowing none.
	PolicyFor jobs.PolicyFunc

	// ProblemBase is put before /problems/<name> in the type of a problem: scheme
	// and host, without a final slash. Defaults to empty, which makes the types
	// relative to the server that gave them (RFC 9457 §3.1.1).
	ProblemBase string

	// Ready tells whether this process can do its work. Defaults to always.
	Ready func(ctx context.Context) Readiness

	// Registry is served at /metrics, and gets this package's own metrics.
	// Defaults to an empty one.
	Registry *prometheus.Registry

	// OpenMetrics lets everybody read /metrics: the listener is on loopback.
	// Defaults to asking for the key of a viewer or an operator.
	OpenMetrics bool

	// Reporter takes the callbacks of providers. Defaults to none: there are no
	// callback URLs.
	Reporter Reporter

	// Routes are the configured routes by name.
	Routes map[string]Route

	// Tracer makes a span of every call under /v1/ and /openai/. Its zero value makes
	// none.
	Tracer tracing.Tracer
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.PolicyFor == nil {
		c.PolicyFor = jobs.PolicyByRoute(func(string) *jobs.Policy { return nil })
	}
	if c.Limits == nil {
		c.Limits = unlimited{}
	}
	if c.CheckWebhook == nil {
		c.CheckWebhook = noWebhooks
	}
	if c.CheckResult == nil {
		c.CheckResult = func(string, json.RawMessage) error { return nil }
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) Readiness { return Readiness{Ready: true} }
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	return c
}
