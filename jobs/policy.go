package jobs

import (
	"context"
	"encoding/json"
	"time"
)

// PolicyFunc gives the policy of a route for a job with these params, as it is now:
// certificates come and go. Nil is a route that is not in the configuration any
// more. An error means that it could not be asked for, not that nothing is allowed.
type PolicyFunc func(ctx context.Context, route string, params json.RawMessage) (*Policy, error)

// PolicyByRoute is a PolicyFunc that knows no certificates.
func PolicyByRoute(of func(route string) *Policy) PolicyFunc {
	return func(_ context.Context, route string, _ json.RawMessage) (*Policy, error) { return of(route), nil }
}

// Policy is what a route allows after a definite, retryable failure. The plan
// made of it is the script's (lua/next.lua).
type Policy struct {
	MaxAttempts int
	Tries       int // at one provider, before the next one
	Backoff     Backoff
	Failover    string // "certified" or "untested"
	Providers   []PolicyProvider
}

// Backoff is the wait before a further try at the same provider: Initial, then
// doubling up to Max.
type Backoff struct{ Initial, Max time.Duration }

// PolicyProvider is a provider of the route, in its order.
type PolicyProvider struct {
	Name        string `json:"name"`
	Certificate string `json:"certificate,omitempty"` // id of a valid one for the route's contract
}

// MarshalJSON writes what lua/next.lua reads; durations in ms.
func (p Policy) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct { //nolint:wrapcheck // json.Marshal wraps it
		MaxAttempts int              `json:"max_attempts"`
		Tries       int              `json:"tries"`
		Initial     int64            `json:"backoff_initial"`
		Max         int64            `json:"backoff_max"`
		Failover    string           `json:"failover"`
		Providers   []PolicyProvider `json:"providers"`
	}{
		p.MaxAttempts, p.Tries, p.Backoff.Initial.Milliseconds(), p.Backoff.Max.Milliseconds(), p.Failover, p.Providers,
	})
}
