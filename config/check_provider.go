package config

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

func (c checker) provider(name string, p Provider, lease time.Duration) {
	at := child("providers", name)
	switch {
	case slices.Contains(ourQueues, name):
		c.addName(at, "the name is taken by a queue of onejob's own", "choose another name")
	case !goodName.MatchString(name):
		c.addName(at, "not a name for a provider", nameRule)
	}
	c.providerType(at, p)
	c.providerTimes(at, p, lease)
	c.count(child(at, "concurrency"), p.Concurrency, 1)
	c.webAddress(child(at, "url"), p.URL, "{attempt}")
	c.webAddress(child(at, "base_url"), p.BaseURL)
	c.attemptAddress(child(at, "lookup_url"), p.LookupURL)
	if p.AbsentProves && p.LookupURL == "" {
		c.add(child(at, "absent_proves"), "there is nothing to look an attempt up at", "give lookup_url as well")
	}
	c.attemptAddress(child(at, "cancel_url"), p.CancelURL)
	for _, header := range slices.Sorted(maps.Keys(p.Headers)) {
		c.header(child(child(at, "headers"), header), header, p.Headers[header])
	}
	if !httpguts.ValidHeaderFieldValue(p.APIKey) || strings.TrimSpace(p.APIKey) != p.APIKey {
		c.add(child(at, "api_key"), "holds blanks or control characters",
			"it is sent in a header: take line breaks and blanks around it away")
	}
}

// addName records a problem with a name; what is below it is still checked.
func (c checker) addName(path, what, allowed string) {
	c.add(path, what, allowed)
	delete(c.bad, path)
}

// providerType checks the keys that depend on the type.
func (c checker) providerType(at string, p Provider) {
	path := child(at, "type")
	if p.Type == "" {
		c.add(path, "missing", oneOf("", c.typeNames()))
		return
	}
	known, ok := c.types[p.Type]
	if !ok {
		c.add(path, clip(p.Type)+" is not known", oneOf(p.Type, c.typeNames()))
		return
	}
	if p.Type == TypeReplicate && p.API == APICog { // a server of one's own, with one model
		known.required, known.optional = []string{"base_url"}, append(slices.Clone(known.optional), "model")
		if p.BaseURL == known.baseURL {
			c.add(child(at, "base_url"), "missing", "api: cog needs the address of the Cog server", child(at, "api"))
		}
		known.baseURL = ""
	}
	for _, k := range p.keys() {
		switch required := slices.Contains(known.required, k.name); {
		case k.set && !required && !slices.Contains(known.optional, k.name) && !known.custom:
			c.add(child(at, k.name), "a provider of type "+p.Type+" does not take this key", known.takes())
		case !k.set && required:
			c.add(child(at, k.name), "missing", "a provider of type "+p.Type+" needs it", path)
		}
	}
	if known.baseURL != "" && p.BaseURL == known.baseURL && p.APIKey == "" {
		c.add(child(at, "api_key"), "missing", known.baseURL+" needs one; or set base_url to a server of your own",
			path, child(at, "base_url"))
	}
	for _, name := range []string{"messages", "model"} {
		if _, set := p.Options[name]; set && known.ai {
			c.add(child(child(at, "options"), name), "cannot be an option", "messages come from the job, the model from the key model")
		}
	}
	if p.API != "" && !known.custom {
		c.oneOf(child(at, "api"), p.API, known.apis...)
	}
}

// providerTimes: design §5 and §8.
func (c checker) providerTimes(at string, p Provider, lease time.Duration) {
	timeout, deadline, settles := child(at, "timeout"), child(at, "deadline"), child(at, "settles_after")
	c.duration(timeout, p.Timeout)
	c.duration(deadline, p.Deadline)
	if p.Timeout > p.Deadline {
		c.add(timeout, fmt.Sprintf("%s is longer than the deadline (%s)", short(p.Timeout), short(p.Deadline)),
			"want timeout ≤ deadline", deadline)
	}
	if p.SettlesAfter != 0 {
		c.duration(settles, p.SettlesAfter)
		if least := p.Deadline + lease; p.SettlesAfter < least {
			c.add(settles, fmt.Sprintf("%s is less than deadline + lease (%s)", short(p.SettlesAfter), short(least)),
				"until then an answer can still come", deadline, "lease")
		}
	}
	if p.Breaker != nil {
		c.duration(child(at, "breaker.open_for"), p.Breaker.OpenFor)
	}
	if p.IdempotentCreate != nil {
		window := child(at, "idempotent_create.window")
		if p.IdempotentCreate.Window == 0 {
			c.add(window, "missing", "say for how long the provider dedupes, such as 24h")
		}
		c.duration(window, p.IdempotentCreate.Window)
		if p.Callback {
			c.add(child(at, "idempotent_create"), "does not go with callback",
				"a repeated create must be the same to the byte, and a callback URL is made once; choose one", child(at, "callback"))
		}
	}
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}?|\}`)

// webAddress checks an absolute URL and the placeholders in it. URLs may carry
// credentials, so messages do not show them.
func (c checker) webAddress(path, address string, placeholders ...string) {
	if address == "" {
		return
	}
	for _, found := range placeholder.FindAllString(address, -1) {
		if !slices.Contains(placeholders, found) {
			c.add(path, "the placeholder "+clip(found)+" is not known", oneOf(found, placeholders))
		}
	}
	u, err := url.Parse(placeholder.ReplaceAllLiteralString(address, "x"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" {
		c.add(path, "is not an absolute http or https URL", "want http://host[:port]/path")
	}
}

// attemptAddress checks a URL that is asked about one attempt.
func (c checker) attemptAddress(path, address string) {
	c.webAddress(path, address, "{attempt}", "{handle}")
	if address != "" && !placeholder.MatchString(address) {
		c.add(path, "does not say which attempt is meant", "put {attempt} or {handle} into it")
	}
}

// ourHeaders are set by onejob on every call; a second one would be a second truth.
var ourHeaders = []string{
	"connection", "content-length", "content-type", "host", "idempotency-key",
	"te", "traceparent", "trailer", "transfer-encoding", "upgrade",
}

func (c checker) header(path, name, value string) {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		c.add(path, "not a name for a header", "want letters, digits and -")
	case slices.Contains(ourHeaders, lower), strings.HasPrefix(lower, "x-onejob-"):
		c.add(path, "onejob sets this header itself", "leave it out")
	case !httpguts.ValidHeaderFieldValue(value):
		c.add(path, "holds control characters", "want one line of text")
	}
}

func (c checker) typeNames() []string { return slices.Sorted(maps.Keys(c.types)) }
