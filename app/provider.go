package app

import (
	"slices"
	"time"

	"onejob/config"
	"onejob/handlers"
	"onejob/jobs"
	"onejob/providers"
	"onejob/providers/anthropic"
	httpprovider "onejob/providers/http"
	"onejob/providers/openai"
	"onejob/providers/replicate"
	"onejob/providers/simulated"
	"onejob/recovery"
)

// builtIn are the provider types onejob brings along.
func builtIn() map[string]providers.Factory {
	return map[string]providers.Factory{
		simulated.Type:    simulated.New,
		httpprovider.Type: httpprovider.New,
		openai.Type:       openai.New,
		anthropic.Type:    anthropic.New,
		replicate.Type:    replicate.New,
	}
}

// buildProviders makes the configured providers.
func buildProviders(cfg *config.Config, types map[string]providers.Factory, guard guard) (map[string]handlers.Provider, error) {
	var registry providers.Registry
	for name, factory := range types {
		if err := registry.Register(name, factory); err != nil {
			return nil, err
		}
	}
	built := make(map[string]handlers.Provider, len(cfg.Providers))
	for name, p := range cfg.Providers {
		provider, err := registry.New(providers.Config{
			Name: name, Type: p.Type, URL: p.URL, LookupURL: p.LookupURL, CancelURL: p.CancelURL, HandlePath: p.HandlePath,
			BaseURL: p.BaseURL, APIKey: p.APIKey, Model: p.Model, API: p.API, Headers: p.Headers, Options: p.Options,
			Body: p.Body, ResultPath: p.ResultPath, ErrorPath: p.ErrorPath, Timeout: p.Timeout, Deadline: p.Deadline,
		})
		if err != nil {
			return nil, err
		}
		provider = guard(name, p, provider)
		built[name] = handlers.Provider{Provider: provider, Name: name, Timeout: p.Timeout, Deadline: p.Deadline}
	}
	return built, nil
}

// guard puts what keeps calls away from a provider in front of it.
type guard func(name string, p config.Provider, provider providers.Provider) providers.Provider

// unguarded is for those who call a provider to see how it does.
func unguarded(_ string, _ config.Provider, provider providers.Provider) providers.Provider {
	return provider
}

// guarded leaves a provider alone while it asks for that, and while its breaker is
// open.
func (a *App) guarded(pauses providers.Pauses) guard {
	return func(name string, p config.Provider, provider providers.Provider) providers.Provider {
		provider = providers.WithPause(provider, name, pauses)
		if p.Breaker == nil {
			return provider
		}
		settings := providers.BreakerSettings{Failures: p.Breaker.Failures, OpenFor: p.Breaker.OpenFor}
		guarded, breaker := providers.WithBreaker(provider, settings, func(from, to providers.BreakerState) {
			a.log.Warn("circuit breaker", "provider", name, "from", from, "to", to)
			a.metrics.breaker(name, to)
		})
		a.metrics.breaker(name, providers.BreakerClosed)
		a.breakers[name] = breaker
		return guarded
	}
}

// asked are the same providers as the reconciler asks them.
func asked(cfg *config.Config, built map[string]handlers.Provider) map[string]recovery.Provider {
	asked := make(map[string]recovery.Provider, len(built))
	for name, p := range built {
		provider := recovery.Provider{Provider: p.Provider, Name: name, Timeout: p.Timeout, Deadline: p.Deadline}
		if create := cfg.Providers[name].IdempotentCreate; create != nil {
			provider.Window = create.Window
		}
		provider.AbsentProves = cfg.Providers[name].AbsentProves
		provider.SettlesAfter = cfg.Providers[name].SettlesAfter
		asked[name] = provider
	}
	return asked
}

// lookupFirst is the wait before an unknown attempt is looked up for the first
// time; it is still listened to then.
const lookupFirst = 2 * time.Second

// reminders tell what to be reminded of when an attempt becomes unknown.
func reminders(cfg *config.Config, asked map[string]recovery.Provider) func(route, provider string) jobs.Reminders {
	return func(route, provider string) jobs.Reminders {
		r := jobs.Reminders{Settle: cfg.Providers[provider].SettlesAfter}
		if asked[provider].Answerable() {
			r.Lookup = lookupFirst
		}
		if race := cfg.Routes[route].Race; race != nil {
			r.Race = race.After
		}
		return r
	}
}

// policies are the routes' plans as the scripts read them, without certificates
// (see rules.policy).
func policies(cfg *config.Config) func(route string) *jobs.Policy {
	byRoute := make(map[string]*jobs.Policy, len(cfg.Routes))
	for name, route := range cfg.Routes {
		policy := &jobs.Policy{
			MaxAttempts: route.MaxAttempts, Tries: route.Tries, Failover: route.Failover,
			Backoff: jobs.Backoff{Initial: route.Backoff.Initial, Max: route.Backoff.Max},
		}
		for _, provider := range route.Providers {
			policy.Providers = append(policy.Providers, jobs.PolicyProvider{Name: provider})
		}
		byRoute[name] = policy
	}
	return func(route string) *jobs.Policy { return byRoute[route] }
}

func providerNames(cfg *config.Config) []string {
	names := make([]string, 0, len(cfg.Providers))
	for name := range cfg.Providers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
