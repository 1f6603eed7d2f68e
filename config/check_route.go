package config

import (
	"fmt"
	"maps"
	"slices"
)

func (c checker) route(name string, r Route, providers map[string]Provider) {
	at := child("routes", name)
	if !goodName.MatchString(name) {
		c.addName(at, "not a name for a route", nameRule)
	}
	c.routeProviders(child(at, "providers"), r.Providers, providers)
	c.count(child(at, "tries"), r.Tries, 1)
	if len(r.Providers) > 0 {
		c.count(child(at, "max_attempts"), r.MaxAttempts, 1)
	}
	c.backoff(child(at, "backoff"), r.Backoff)
	c.oneOf(child(at, "failover"), r.Failover, FailoverCertified, FailoverUntested)
	c.oneOf(child(at, "effects"), r.Effects, EffectsExternal, EffectsNone)
	if r.Race != nil {
		c.race(at, r)
	}
	c.params(child(at, "params"), r.Params)
}

func (c checker) routeProviders(at string, names []string, known map[string]Provider) {
	if len(names) == 0 {
		c.add(at, "missing", "name at least one provider")
	}
	for i, name := range names {
		path := element(at, i)
		if first := slices.Index(names, name); first < i {
			c.add(path, clip(name)+" is here twice", "name each provider once; tries says how often it is tried", element(at, first))
		} else if _, ok := known[name]; !ok {
			c.add(path, clip(name)+" is not a provider", oneOf(name, slices.Sorted(maps.Keys(known))), "providers")
		}
	}
}

func (c checker) backoff(at string, b Backoff) {
	initial, longest := child(at, "initial"), child(at, "max")
	c.duration(initial, b.Initial)
	c.duration(longest, b.Max)
	if b.Max < b.Initial {
		c.add(longest, fmt.Sprintf("%s is shorter than backoff.initial (%s)", short(b.Max), short(b.Initial)),
			"want initial ≤ max", initial)
	}
}

// race: two calls at once are two effects, so only a route without any may.
func (c checker) race(at string, r Route) {
	path, after := child(at, "race"), child(at, "race.after")
	if r.Race.After == 0 {
		c.add(after, "missing", "say how long after the suspicion the next provider joins in, such as 10s")
	}
	c.duration(after, r.Race.After)
	if r.Effects != EffectsNone {
		c.add(path, "only a route with effects: none may race", "declare effects: none, or take race out", child(at, "effects"))
	}
	if len(r.Providers) < 2 {
		c.add(path, "there is nobody to race against", "name a second provider", child(at, "providers"))
	}
}

func (c checker) params(at string, names []string) {
	for i, name := range names {
		path := element(at, i)
		if name == "" {
			c.add(path, "is empty", "name an option, such as temperature")
		}
		if first := slices.Index(names, name); first < i {
			c.add(path, clip(name)+" is here twice", "name each once", element(at, first))
		}
	}
}
