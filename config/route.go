package config

import "time"

// Values of Route.Failover and Route.Effects.
const (
	FailoverCertified = "certified"
	FailoverUntested  = "untested"

	EffectsExternal = "external"
	EffectsNone     = "none"
)

// Route is one named kind of work (design §6). Its keys are below routes.<name>.
type Route struct {
	// Providers are the names of the providers to try, in order, each once. Key
	// providers. Required.
	Providers []string

	// MaxAttempts bounds what a job may try without a person asking. Key
	// max_attempts, at least 1. Defaults to Tries times the number of Providers.
	MaxAttempts int

	// Tries is how often one provider is tried after retryable failures before
	// the next one is. Key tries, at least 1. Defaults to 1.
	Tries int

	// Backoff is the pause between tries at one provider. Key backoff.
	Backoff Backoff

	// Contract is the file that says what the output must satisfy; in the file
	// relative to it, here joined with its directory. Key contract. Defaults to
	// empty: any valid result is taken.
	Contract string

	// Failover says when the next provider may be tried without a person:
	// certified (its certificate for the contract is valid) or untested (always,
	// at the operator's risk). Key failover. Defaults to certified.
	Failover string

	// Effects says whether a call changes something in the world: external or
	// none. Only none may race. Key effects. Defaults to external.
	Effects string

	// Race opens the next provider while the first is silent. Key race, with
	// effects: none only. Defaults to nil: it waits.
	Race *Race

	// Params are the names of options a caller may set for a job. Key params.
	// Defaults to none.
	Params []string
}

// Backoff is a pause that doubles from Initial to Max.
type Backoff struct {
	// Initial is the first pause. Key backoff.initial, a duration. Defaults to 1s.
	Initial time.Duration

	// Max is the longest pause. Key backoff.max, a duration of at least Initial.
	// Defaults to 30s.
	Max time.Duration
}

// Race says when a second provider joins in.
type Race struct {
	// After is counted from the suspicion of the silent attempt. Key race.after,
	// a duration. Required.
	After time.Duration
}
