package config

// providerType says which keys a type of provider takes beyond those every type
// takes.
type providerType struct {
	ai       bool     // the longer default times
	baseURL  string   // the vendor's own, which needs an api_key
	required []string // must be there
	optional []string // may be there
}

// everyType are the keys a provider of any type takes.
var everyType = []string{
	"type", "timeout", "deadline", "concurrency", "options", "settles_after", "idempotent_create",
}

// knownTypes are the types onejob brings along. A type from WithTypes takes
// every key: what is right there only its own code can say.
var knownTypes = map[string]providerType{
	TypeSimulated: {},
	TypeHTTP: {
		required: []string{"url"},
		optional: []string{"headers", "lookup_url", "cancel_url", "handle_path"},
	},
	TypeOpenAI: {
		ai: true, baseURL: "https://api.openai.com/v1",
		required: []string{"model"},
		optional: []string{"base_url", "api_key", "api", "headers"},
	},
	TypeAnthropic: {
		ai: true, baseURL: "https://api.anthropic.com",
		required: []string{"model"},
		optional: []string{"base_url", "api_key", "headers"},
	},
	TypeReplicate: {
		ai: true, baseURL: "https://api.replicate.com/v1",
		required: []string{"model"},
		optional: []string{"base_url", "api_key", "headers"},
	},
}
