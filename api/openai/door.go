package openai

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"onejob/api"
)

// Root is where the door is mounted; it is the base URL of its clients.
const Root = "/openai/v1"

// Config is what the door needs to know.
type Config struct {
	// Wait is how long a request is held for its job's answer. Defaults to 10
	// minutes.
	Wait time.Duration

	// Heartbeat is how often a silent stream sends a comment, so that what lies
	// between keeps the connection. Defaults to 10 seconds.
	Heartbeat time.Duration

	// Routes are the names of the routes, which are the door's models.
	Routes []string
}

// Door serves OpenAI's API at Root. It is safe for concurrent use.
type Door struct {
	config Config
	api    *api.Server
}

// New returns the door to server. It must still be mounted.
func New(server *api.Server, config Config) *Door {
	if config.Wait == 0 {
		config.Wait = 10 * time.Minute
	}
	if config.Heartbeat == 0 {
		config.Heartbeat = 10 * time.Second
	}
	config.Routes = slices.Sorted(slices.Values(config.Routes))
	return &Door{config: config, api: server}
}

// Serve answers one request; an error is a problem for AnswerProblem.
func (d *Door) Serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	path := strings.TrimPrefix(r.URL.Path, Root)
	model, one := strings.CutPrefix(path, "/models/")
	switch {
	case path == "/chat/completions":
		return only(http.MethodPost, d.complete)(w, r)
	case path == "/models":
		return only(http.MethodGet, d.listModels)(w, r)
	case one && model != "":
		return only(http.MethodGet, func(w http.ResponseWriter, r *http.Request) error { return d.showModel(w, r, model) })(w, r)
	}
	return api.NewProblem("not-found", "There is no %s here; this server has %s/chat/completions and %s/models.",
		clip(r.URL.Path), Root, Root)
}

type handler func(w http.ResponseWriter, r *http.Request) error

// only refuses all methods but one.
func only(method string, next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != method {
			w.Header().Set("Allow", method)
			return api.NewProblem("method-not-allowed", "This address answers %s, not %s.", method, clip(r.Method))
		}
		return next(w, r)
	}
}

// clip keeps what a caller sent from filling an answer.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
