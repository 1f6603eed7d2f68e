package roster

import "time"

// Kind is what a process does.
type Kind string

// Kinds of processes, named as the commands that start them.
const (
	KindAPI    Kind = "api"    // answers HTTP; makes no calls
	KindWorker Kind = "worker" // makes calls
	KindServe  Kind = "serve"  // both
	KindDev    Kind = "dev"    // both, with a Redis of its own
)

// Works tells whether a process of this kind makes calls.
func (k Kind) Works() bool { return k != KindAPI }

// Process is the record of one process.
type Process struct {
	// ID is the process's own, made when it started: proc_ and a ULID.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Host is the name of its machine, PID its number there.
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Version is what `onejob version` says of its binary.
	Version string `json:"version"`
	// Schema is the newest schema of records it reads; none: the first.
	Schema int `json:"schema,omitempty"`
	// Started is when it began, Seen when it wrote this; by its own clock, UTC.
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
	// Addr is where it listens, AdminAddr where it serves operators alone.
	Addr      string `json:"addr,omitempty"`
	AdminAddr string `json:"admin_addr,omitempty"`
	// Draining: it was told to stop, and lets its calls finish.
	Draining bool `json:"draining,omitempty"`
	// Rewinds is how many partitions it has found to have gone back in time.
	Rewinds int `json:"rewinds"`
	// Providers are those it works for, by name; empty for an api.
	Providers []Provider `json:"providers,omitempty"`
	// Sweeper is nil for an api.
	Sweeper *Sweeper `json:"sweeper,omitempty"`
}

// BreakerOff is the breaker state of a provider that has none. The others are
// those of package providers: closed, open, half-open.
const BreakerOff = "off"

// Provider is how one process gets on with one provider.
type Provider struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Model string `json:"model,omitempty"`
	// Breaker is closed, open or half-open; off where none is configured.
	Breaker string `json:"breaker"`
	// InFlight calls are being made or listened to, of at most Concurrency.
	InFlight    int `json:"in_flight"`
	Concurrency int `json:"concurrency"`
	// What became of the calls that ended in the last five minutes (Window).
	// Calls is the sum of the other three.
	Calls     int `json:"calls"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Unknown   int `json:"unknown"`
	// Latency of the last calls that ended (Latencies of them at most), from claim
	// to outcome, in milliseconds; 0 before the first.
	P50MS int64 `json:"p50_ms"`
	P95MS int64 `json:"p95_ms"`
	// LastError is the latest call that failed or is unknown, since the process
	// began; nil when there was none.
	LastError *LastError `json:"last_error,omitempty"`
}

// LastError is a call that did not succeed. The reason is one of onejob's own
// words (docs/providers.md), never the provider's.
type LastError struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// Sweeper is the state of a worker's sweeper.
type Sweeper struct {
	// LastSweep is when the latest sweep that read everything ended; zero before
	// the first.
	LastSweep time.Time `json:"last_sweep,omitzero"`
	// LagMS is by how many milliseconds the oldest entry that sweep found was
	// overdue; 0 when none was.
	LagMS int64 `json:"lag_ms"`
	// Overdue is how many entries it took.
	Overdue int `json:"overdue"`
}
