package config

import (
	"slices"
	"strings"
)

// providerType says which keys a type of provider takes beyond those every type
// takes.
type providerType struct {
	ai       bool     // the longer default times
	baseURL  string   // the vendor's own, which needs an api_key
	required []string // must be there
	optional []string // may be there
	apis     []string // the values of api, the default first
	custom   bool     // of the program's own: takes every key
}

// everyType are the keys a provider of any type takes.
var everyType = []string{
	"type", "options", "timeout", "deadline", "concurrency", "settles_after", "idempotent_create",
	"breaker",
}

// takes says which keys the type has.
func (t providerType) takes() string {
	return "it takes " + strings.Join(slices.Concat(everyType, t.required, t.optional), ", ")
}

// key is one of the keys only some types take.
type key struct {
	name string
	set  bool
}

func (p Provider) keys() []key {
	return []key{
		{"url", p.URL != ""},
		{"base_url", p.BaseURL != ""},
		{"api_key", p.APIKey != ""},
		{"model", p.Model != ""},
		{"api", p.API != ""},
		{"headers", p.Headers != nil},
		{"lookup_url", p.LookupURL != ""},
		{"cancel_url", p.CancelURL != ""},
		{"handle_path", p.HandlePath != ""},
		{"absent_proves", p.AbsentProves},
		{"callback", p.Callback},
		{"body", p.Body != nil},
		{"result_path", p.ResultPath != ""},
		{"error_path", p.ErrorPath != ""},
	}
}

// knownTypes are the types onejob brings along. A type from WithTypes takes
// every key: what is right there only its own code can say.
var knownTypes = map[string]providerType{
	TypeSimulated: {},
	TypeHTTP: {
		required: []string{"url"},
		optional: []string{
			"headers", "lookup_url", "cancel_url", "handle_path", "absent_proves", "callback",
			"body", "result_path", "error_path",
		},
	},
	TypeOpenAI: {
		ai: true, baseURL: "https://api.openai.com/v1",
		required: []string{"model"},
		optional: []string{"base_url", "api_key", "api", "headers"},
		apis:     []string{APIChat, APIResponses},
	},
	TypeAnthropic: {
		ai: true, baseURL: "https://api.anthropic.com",
		required: []string{"model"},
		optional: []string{"base_url", "api_key", "headers"},
	},
	TypeReplicate: {
		ai: true, baseURL: "https://api.replicate.com/v1",
		required: []string{"model"},
		optional: []string{"base_url", "api_key", "api", "headers", "callback"},
		apis:     []string{APIPredictions, APICog},
	},
}
