package config

import "time"

// Types of providers that onejob brings along. Others are announced with
// WithTypes.
const (
	TypeSimulated = "simulated"
	TypeHTTP      = "http"
	TypeOpenAI    = "openai"
	TypeAnthropic = "anthropic"
	TypeReplicate = "replicate"
)

// Values of Provider.API.
const (
	APIChat      = "chat"
	APIResponses = "responses"
	// Of replicate.
	APIPredictions = "predictions"
	APICog         = "cog"
)

// Provider is one configured provider (design §5). Its keys are below
// providers.<name>; which of them a type takes is said in types.go.
type Provider struct {
	// Type decides who speaks to it: simulated, http, openai, anthropic,
	// replicate, or a type of the program's own. Key type. Required.
	Type string

	// URL is where creates are POSTed to; {attempt} in it is the attempt id. Key
	// url. Required by http.
	URL string

	// BaseURL is the root of an AI API, without the operation's path. Key
	// base_url. Defaults to the vendor's own for openai
	// (https://api.openai.com/v1), anthropic and replicate.
	BaseURL string

	// APIKey is the credential, best written as ${NAME}. Key api_key. Required
	// where BaseURL is the vendor's own. Defaults to empty: none is sent.
	APIKey string

	// Model is the model to ask for. Key model. Required by AI types.
	Model string

	// API chooses between the interfaces of an openai provider: chat or
	// responses; of a replicate provider, predictions or cog. Key api. Defaults to chat for openai, to predictions for
	// replicate, to empty elsewhere.
	API string

	// Options are sent with every call (temperature and the like), in JSON's
	// types: map[string]any, []any, string, bool, int, float64, nil. Key options.
	// Defaults to none.
	Options map[string]any

	// Headers are added to every request to the provider. Key headers. Defaults
	// to none.
	Headers map[string]string

	// LookupURL answers what became of an attempt; {attempt} in it is the attempt
	// id, {handle} the provider's own. Key lookup_url, http only. Defaults to
	// empty: the provider cannot be asked.
	LookupURL string

	// CancelURL asks the provider to stop an attempt; placeholders as in
	// LookupURL. Key cancel_url, http only. Defaults to empty: it cannot be asked.
	CancelURL string

	// HandlePath is where the body of a 202 carries the provider's handle. Key
	// handle_path, http only. Defaults to empty: the Location header is taken.
	HandlePath string

	// AbsentProves declares that an attempt the provider does not know, asked after
	// its deadline, never reached it, which fails the attempt. Key absent_proves,
	// http with lookup_url only. Defaults to false: absent proves nothing.
	AbsentProves bool

	// Callback gives the provider a URL of the attempt's own, at which it may
	// report the end. Key callback, http only; needs server.public_url. Defaults to
	// false.
	Callback bool

	// Body is the template of a create's body; its texts may hold {{input}},
	// {{params}}, {{job}}, {{attempt}} and {{callback_url}}. Key body, http only.
	// Defaults to the shape of design §8.
	Body any

	// ResultPath finds the result in the body of a success, ErrorPath the endpoint's
	// own error in any body: JSON Pointers, or names separated by dots. Keys
	// result_path and error_path, http only. Default to empty: the whole body, and
	// the envelopes of package providers/http.
	ResultPath string
	ErrorPath  string

	// Breaker leaves a provider that fails again and again alone for a while. Key
	// breaker. Defaults to nil: it is always called.
	Breaker *Breaker

	// Timeout is the silence after which an attempt becomes unknown. Key timeout,
	// a duration of at most Deadline. Defaults to 10s, for AI types to 60s.
	Timeout time.Duration

	// Deadline is how long a call is listened to at all. Key deadline, a
	// duration. Defaults to 60s, for AI types to 10m.
	Deadline time.Duration

	// Concurrency is the number of calls one worker process makes at once. Key
	// concurrency, at least 1. Defaults to 10.
	Concurrency int

	// SettlesAfter is the operator's word that so long after the suspicion no
	// answer can come any more, which fails an unknown attempt (design §5). Key
	// settles_after, a duration of at least Deadline plus the lease. Defaults to
	// 0: silence never becomes a failure.
	SettlesAfter time.Duration

	// IdempotentCreate declares that the provider answers a repeated create with
	// the same key from the first one. Key idempotent_create. Defaults to nil: it
	// is never repeated.
	IdempotentCreate *IdempotentCreate
}

// IdempotentCreate is a provider's promise to dedupe creates by key (design §5).
type IdempotentCreate struct {
	// Window is for how long after a create the same key finds it. Key
	// idempotent_create.window, a duration. Required.
	Window time.Duration
}

// Breaker is a circuit breaker of this process for one provider.
type Breaker struct {
	// Failures in a row after which it opens. Key breaker.failures. Defaults to 5.
	Failures int
	// OpenFor is how long calls then fail at once (circuit_open, not sent) before
	// one is let through. Key breaker.open_for, a duration. Defaults to 30s.
	OpenFor time.Duration
}

// AI tells whether the provider is an AI API of a type onejob brings along.
func (p Provider) AI() bool { return knownTypes[p.Type].ai }
