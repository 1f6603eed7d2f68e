package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxMetadata is how many entries metadata may have; their size is bounded by
// that of the body.
const maxMetadata = 50

// submitFields are the fields of POST /v1/jobs, in the order they are documented.
var submitFields = []string{"route", "input", "provider", "params", "metadata", "webhook_url", "start_within"}

// submitRequest is the body of POST /v1/jobs. Raw members are the caller's bytes.
type submitRequest struct {
	Route       string
	Input       json.RawMessage
	Provider    string
	Params      json.RawMessage
	Metadata    json.RawMessage
	WebhookURL  string
	StartWithin time.Duration

	Fingerprint string
	paramNames  []string
}

// parseSubmit reads a body by what the API itself can judge. What depends on the
// configuration is looked at by checkRoute.
func parseSubmit(body []byte) (*submitRequest, *Problem) {
	f, canonicalBody, p := readFields(body, submitFields...)
	if p != nil {
		return nil, p
	}
	r := &submitRequest{}
	if r.Route, p = f.requiredText("route"); p != nil {
		return nil, p
	}
	if _, ok := f["input"]; !ok {
		return nil, missing("input")
	}
	r.Input = json.RawMessage(f["input"])
	if _, ok := f["provider"]; ok {
		if r.Provider, p = f.requiredText("provider"); p != nil {
			return nil, p
		}
	}
	if r.StartWithin, p = f.duration("start_within"); p != nil {
		return nil, p
	}
	if p = r.parseExtras(f); p != nil {
		return nil, p
	}
	r.Fingerprint = fingerprint(r.Route, canonicalBody)
	return r, nil
}

func (r *submitRequest) parseExtras(f fields) *Problem {
	params, p := f.object("params")
	if p != nil {
		return p
	}
	r.paramNames = slices.Sorted(maps.Keys(params))
	r.Params = json.RawMessage(f["params"])

	if p = checkMetadata(f); p != nil {
		return p
	}
	r.Metadata = json.RawMessage(f["metadata"])
	r.WebhookURL, p = webhookURL(f)
	return p
}

func checkMetadata(f fields) *Problem {
	entries, p := f.object("metadata")
	if p != nil {
		return p
	}
	if len(entries) > maxMetadata {
		return invalidField("metadata", "The field metadata has %d entries; %d are allowed.", len(entries), maxMetadata)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if value := entries[name]; value.Kind() != '"' {
			return wrongType("metadata."+clip(name), "a string", value)
		}
	}
	return nil
}

// Route is what the API has to know of a configured route.
type Route struct {
	// Providers are the names a job of the route may ask for, in the order they
	// are tried. At least one.
	Providers []string
	// Params are the names of options a caller may set. Defaults to none.
	Params []string
}

// checkRoute checks r against the configured routes and fills in the provider
// that is tried first.
func (r *submitRequest) checkRoute(routes map[string]Route) *Problem {
	route, ok := routes[r.Route]
	if !ok {
		return unknownRoute(r.Route, routes)
	}
	if r.Provider == "" {
		r.Provider = route.Providers[0]
	}
	if p := route.checkProvider(r.Route, r.Provider); p != nil {
		return p
	}
	return route.checkParams(r.Route, r.paramNames)
}

// checkParams names every param that is not the caller's to set, and what would
// make it so.
func (r Route) checkParams(route string, names []string) *Problem {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(r.Params, name) })
	if len(names) == 0 {
		return nil
	}
	for i := range names {
		names[i] = clip(names[i])
	}
	list := strings.Join(slices.Concat(r.Params, names), ", ")
	return newProblem(&problemRequestInvalid, "The route %s does not let a caller set %s.", route, strings.Join(names, ", ")).
		at("params."+names[0], r.Params...).
		hint("Leave out what the route does not list, or list it in the configuration: routes.%s.params: [%s].", route, list)
}

func (r Route) checkProvider(name, provider string) *Problem {
	if slices.Contains(r.Providers, provider) {
		return nil
	}
	return newProblem(&problemRequestInvalid, "The provider %q is not one of the route %s.", clip(provider), clip(name)).
		at("provider", r.Providers...).
		hint("Name one of the providers in allowed, or leave provider out to take the first.")
}

func unknownRoute(name string, routes map[string]Route) *Problem {
	return newProblem(&problemRouteUnknown, "The route %q is not configured.", clip(name)).
		at("route", slices.Sorted(maps.Keys(routes))...)
}
