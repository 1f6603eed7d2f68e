package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"onejob/config"
	"onejob/contracts"
	"onejob/handlers"
	"onejob/jobs"
	"onejob/providers"
)

// book loads the contracts of the configuration and enters every provider of
// their routes. The error is contracts.Problems for a file that is wrong.
func book(cfg *config.Config, store *contracts.Store, built map[string]handlers.Provider) (*contracts.Book, error) {
	b := contracts.NewBook(store)
	for _, route := range slices.Sorted(maps.Keys(cfg.Routes)) {
		path := cfg.Routes[route].Contract
		if path == "" {
			continue
		}
		contract, err := contracts.Load(path)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", route, err)
		}
		for _, name := range cfg.Routes[route].Providers {
			if err := b.Add(contract, target(cfg, route, name, built[name].Provider)); err != nil {
				return nil, fmt.Errorf("route %s: %w", route, err)
			}
		}
	}
	return b, nil
}

// target is a provider of a route, as it is verified.
func target(cfg *config.Config, route, name string, call providers.Provider) contracts.Target {
	p := cfg.Providers[name]
	t := contracts.Target{
		Route: route, Provider: name, Type: p.Type, Model: p.Model, API: p.API, BaseURL: p.BaseURL, URL: p.URL,
		Options: p.Options, AI: p.AI(), Call: call, Timeout: p.Timeout, Deadline: p.Deadline,
	}
	if p.Type == config.TypeOpenAI {
		t.Tokens = contracts.Tokenizer{BaseURL: p.BaseURL, APIKey: p.APIKey, Headers: p.Headers, Model: p.Model}
	}
	return t
}

// certificateNotes tell of providers that may not be failed over to, for /readyz
// and the metrics. The process is ready all the same.
func (a *App) certificateNotes(ctx context.Context) []string {
	standings, err := a.rules.book.Standings(ctx)
	if err != nil {
		return nil // that the store is away is told elsewhere
	}
	var notes []string
	for _, s := range standings {
		a.metrics.standing(s)
		if s.State != contracts.StateValid {
			notes = append(notes, fmt.Sprintf("certificate of provider %s for route %s: %s; %s", s.Provider, s.Route, s.State, s.Hint))
		}
	}
	return notes
}

// rules are what the routes' contracts ask of every call.
type rules struct {
	cfg  *config.Config
	book *contracts.Book
}

// prepare is handlers.Options.Prepare: the prompt is rendered for AI providers,
// and the contract's options go over the provider's own.
func (r rules) prepare(route, provider string, input, params json.RawMessage) (json.RawMessage, json.RawMessage, error) {
	contract := r.book.Contract(route)
	if contract == nil {
		return input, params, nil
	}
	params, err := contract.Params(params)
	if err != nil {
		return nil, nil, err
	}
	if r.cfg.Providers[provider].AI() {
		input, err = contract.Render(input)
	}
	return input, params, err
}

// judge is handlers.Options.Judge: an answer that breaks a rule is a definite
// failure, which may be followed by another attempt only where calls have no
// effects.
func (r rules) judge(route string, o providers.Outcome) providers.Outcome {
	contract := r.book.Contract(route)
	if contract == nil {
		return o
	}
	judged := contract.Judge(o)
	if o.Kind == providers.Succeeded && judged.Kind == providers.Failed {
		judged.Retryable = contracts.Retryable(judged.Reason, r.cfg.Routes[route].Effects)
	}
	return judged
}

// checkResult is api.Config.CheckResult.
func (r rules) checkResult(route string, result json.RawMessage) error {
	contract := r.book.Contract(route)
	if contract == nil {
		return nil
	}
	var broken []error
	for _, violation := range contract.Check(result) {
		broken = append(broken, errors.New(violation.String()))
	}
	return errors.Join(broken...)
}

// policy is jobs.PolicyFunc: the route's plan with the certificates that are valid
// now. A job whose params change what they are bound to does not fail over by
// itself (design §7).
func (r rules) policy(plans func(route string) *jobs.Policy) jobs.PolicyFunc {
	return func(ctx context.Context, route string, params json.RawMessage) (*jobs.Policy, error) {
		plan := plans(route)
		if plan == nil || plan.Failover != config.FailoverCertified || r.book.Contract(route) == nil || !r.book.Bound(route, params) {
			return plan, nil
		}
		certified, err := r.book.Certificates(ctx, route)
		if err != nil {
			return nil, fmt.Errorf("looking for the certificates of route %s: %w", route, err)
		}
		now := *plan
		now.Providers = slices.Clone(plan.Providers)
		for i := range now.Providers {
			now.Providers[i].Certificate = certified[now.Providers[i].Name]
		}
		return &now, nil
	}
}

// WithContracts runs do on the contracts of cfg, its providers and the
// certificates of its Redis. Nothing keeps calls away from the providers.
func WithContracts(
	ctx context.Context, cfg *config.Config, do func(context.Context, *contracts.Book, *contracts.Store) error, opts ...Option,
) error {
	a := New(cfg, opts...)
	rdb, err := connection{cfg.Redis}.client()
	if err != nil {
		return err
	}
	run := func() error {
		built, err := buildProviders(cfg, a.types, unguarded)
		if err != nil {
			return err
		}
		store := contracts.NewStore(rdb)
		book, err := book(cfg, store, built)
		if err != nil {
			return err
		}
		return do(ctx, book, store)
	}
	return errors.Join(run(), rdb.Close())
}
