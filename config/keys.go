package config

import (
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// The keys of the file, section by section.

func (r reader) config(n *yaml.Node, c *Config) {
	c.Providers = map[string]Provider{}
	c.Routes = map[string]Route{}
	r.mapping("", n, map[string]field{
		"redis":        r.redis(&c.Redis),
		"server":       r.server(&c.Server),
		"certificates": r.certificates(&c.Certificates),
		"retention":    r.retention(&c.Retention),
		"webhooks":     r.webhooks(&c.Webhooks),
		"dashboard":    r.dashboard(&c.Dashboard),
		"tracing":      r.tracing(&c.Tracing),
		"limits":       r.limits(&c.Limits),
		"drain":        r.duration(&c.Drain),
		"lease":        r.duration(&c.Lease),
		"beat":         r.duration(&c.Beat),
		"providers": func(path string, n *yaml.Node) {
			r.each(path, n, func(name, at string, v *yaml.Node) { c.Providers[name] = r.provider(at, v) })
		},
		"routes": func(path string, n *yaml.Node) {
			r.each(path, n, func(name, at string, v *yaml.Node) { c.Routes[name] = r.route(at, v) })
		},
	})
}

func (r reader) redis(to *Redis) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"url":           r.text(&to.URL),
			"durability":    r.choice(&to.Durability, DurabilityAny, DurabilityFsync),
			"wait_replicas": r.count(&to.WaitReplicas, 0),
		})
	}
}

func (r reader) server(to *Server) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"addr":            r.text(&to.Addr),
			"admin_addr":      r.text(&to.AdminAddr),
			"public_url":      r.text(&to.PublicURL),
			"door_wait":       r.duration(&to.DoorWait),
			"max_connections": r.number(&to.MaxConnections, 1, maxConnections),
		})
	}
}

func (r reader) retention(to *Retention) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"job": r.duration(&to.Job),
			"key": r.duration(&to.Key),
		})
	}
}

func (r reader) certificates(to *Certificates) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"lifetime": r.duration(&to.Lifetime),
			"reverify": r.duration(&to.Reverify),
			"runs":     r.count(&to.Runs, 1),
		})
	}
}

func (r reader) breaker(to **Breaker) field {
	return func(path string, n *yaml.Node) {
		*to = &Breaker{}
		r.mapping(path, n, map[string]field{
			"failures": r.count(&(*to).Failures, 1),
			"open_for": r.duration(&(*to).OpenFor),
		})
	}
}

func (r reader) anything(to *any) field {
	return func(path string, n *yaml.Node) { *to = r.value(path, n) }
}

func (r reader) provider(path string, n *yaml.Node) (p Provider) {
	r.mapping(path, n, map[string]field{
		"type":              r.text(&p.Type),
		"url":               r.text(&p.URL),
		"base_url":          r.text(&p.BaseURL),
		"api_key":           r.text(&p.APIKey),
		"model":             r.text(&p.Model),
		"api":               r.text(&p.API),
		"options":           r.options(&p.Options),
		"headers":           r.headers(&p.Headers),
		"lookup_url":        r.text(&p.LookupURL),
		"cancel_url":        r.text(&p.CancelURL),
		"handle_path":       r.text(&p.HandlePath),
		"timeout":           r.duration(&p.Timeout),
		"deadline":          r.duration(&p.Deadline),
		"concurrency":       r.count(&p.Concurrency, 1),
		"settles_after":     r.duration(&p.SettlesAfter),
		"idempotent_create": r.idempotentCreate(&p.IdempotentCreate),
		"absent_proves":     r.flag(&p.AbsentProves),
		"callback":          r.flag(&p.Callback),
		"body":              r.anything(&p.Body),
		"result_path":       r.text(&p.ResultPath),
		"error_path":        r.text(&p.ErrorPath),
		"breaker":           r.breaker(&p.Breaker),
	})
	return p
}

func (r reader) idempotentCreate(to **IdempotentCreate) field {
	return func(path string, n *yaml.Node) {
		*to = &IdempotentCreate{}
		r.mapping(path, n, map[string]field{"window": r.duration(&(*to).Window)})
	}
}

func (r reader) options(to *map[string]any) field {
	return func(path string, n *yaml.Node) {
		*to = map[string]any{}
		r.each(path, n, func(key, at string, v *yaml.Node) { (*to)[key] = r.value(at, v) })
	}
}

func (r reader) headers(to *map[string]string) field {
	return func(path string, n *yaml.Node) {
		*to = map[string]string{}
		r.each(path, n, func(key, at string, v *yaml.Node) {
			var s string
			r.text(&s)(at, v)
			(*to)[key] = s
		})
	}
}

func (r reader) route(path string, n *yaml.Node) (to Route) {
	r.mapping(path, n, map[string]field{
		"providers":    r.texts(&to.Providers),
		"max_attempts": r.count(&to.MaxAttempts, 1),
		"tries":        r.count(&to.Tries, 1),
		"backoff":      r.backoff(&to.Backoff),
		"contract":     r.file(&to.Contract),
		"failover":     r.choice(&to.Failover, FailoverCertified, FailoverUntested),
		"effects":      r.choice(&to.Effects, EffectsExternal, EffectsNone),
		"race":         r.race(&to.Race),
		"params":       r.texts(&to.Params),
	})
	return to
}

func (r reader) backoff(to *Backoff) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"initial": r.duration(&to.Initial),
			"max":     r.duration(&to.Max),
		})
	}
}

func (r reader) race(to **Race) field {
	return func(path string, n *yaml.Node) {
		*to = &Race{}
		r.mapping(path, n, map[string]field{"after": r.duration(&(*to).After)})
	}
}

// file reads a path that is relative to the file that names it (design §6).
func (r reader) file(to *string) field {
	return func(path string, n *yaml.Node) {
		r.text(to)(path, n)
		if *to != "" && !filepath.IsAbs(*to) {
			*to = filepath.Join(filepath.Dir(r.report.file), *to)
		}
	}
}
