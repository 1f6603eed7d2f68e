package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/audit"
	"onejob/config"
	"onejob/contracts"
	"onejob/dashboard"
	"onejob/roster"
)

// newPages makes the operators' pages of this process.
func (a *App) newPages() *dashboard.Pages {
	return dashboard.New(dashboard.Config{
		AskedToWait:  a.askedToWait,
		Audit:        audit.New(a.rdb),
		Certificates: a.standings,
		Durability:   string(a.durability),
		Embedded:     a.embedded,
		Idle:         a.cfg.Dashboard.Idle,
		Jobs: dashboard.JobsConfig{
			CheckResult: a.rules.checkResult, PolicyFor: a.policy, Redact: a.redact, Routes: a.shownRoutes(), Store: a.store, Waker: a.waker,
		},
		Keys:       a.keys,
		Log:        a.log,
		Monitor:    a.redis,
		Partitions: a.store.Partitions,
		Processes:  roster.Roster{Redis: a.rdb}.List,
		Providers:  a.shownProviders(),
		Redis:      a.rdb,
		Secure:     strings.HasPrefix(a.cfg.Server.PublicURL, "https://"),
		Session:    a.cfg.Dashboard.Session,
		Version:    a.version,
		Watch:      a.store,
	})
}

// mountPages serves them beside the API.
func (a *App) mountPages() {
	a.pages = a.newPages()
	a.api.Mount(dashboard.Root, a.pages)
	a.api.Mount(dashboard.MonitorRoot, a.pages.Monitor())
	a.api.MountFront(dashboard.Front{})
}

func (a *App) shownRoutes() map[string]dashboard.JobRoute {
	routes := make(map[string]dashboard.JobRoute, len(a.cfg.Routes))
	for name, r := range a.cfg.Routes {
		routes[name] = dashboard.JobRoute{Providers: r.Providers, Harmless: r.Effects == config.EffectsNone}
	}
	return routes
}

func (a *App) shownProviders() []dashboard.Provider {
	shown := make([]dashboard.Provider, 0, len(a.cfg.Providers))
	for _, name := range providerNames(a.cfg) {
		p := a.cfg.Providers[name]
		provider := dashboard.Provider{Name: name, Type: p.Type, Model: p.Model, Concurrency: p.Concurrency}
		for route, r := range a.cfg.Routes {
			if slices.Contains(r.Providers, name) {
				provider.Routes = append(provider.Routes, route)
			}
		}
		slices.Sort(provider.Routes)
		shown = append(shown, provider)
	}
	return shown
}

// askedToWait reads what a worker was told with a Retry-After (pauses.go).
func (a *App) askedToWait(ctx context.Context, provider string) (time.Time, error) {
	ms, err := a.rdb.Get(ctx, pauseKey(provider)).Int64()
	if errors.Is(err, redis.Nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("looking for a pause of provider %s: %w", provider, err)
	}
	return time.UnixMilli(ms), nil
}

// standings are the certificates as the page Providers shows them.
func (a *App) standings(ctx context.Context) ([]dashboard.Certificate, error) {
	standings, err := a.rules.book.Standings(ctx)
	if err != nil {
		return nil, err
	}
	shown := make([]dashboard.Certificate, 0, len(standings))
	for _, s := range standings {
		c := dashboard.Certificate{Route: s.Route, Provider: s.Provider, State: s.State, Why: s.Why, Hint: s.Hint}
		if s.Certificate != nil {
			c.ID, c.Issued, c.Expires = s.Certificate.ID, s.Certificate.IssuedAt, s.Certificate.ExpiresAt
			c.Proofs = proofs(s.Certificate)
		}
		shown = append(shown, c)
	}
	return shown, nil
}

func proofs(c *contracts.Certificate) []dashboard.Proof {
	shown := make([]dashboard.Proof, 0, len(c.Proofs))
	for _, p := range c.Proofs {
		if _, exempt := c.Exempt[p.Property]; !exempt || p.Proven {
			shown = append(shown, dashboard.Proof{Property: string(p.Property), Proven: p.Proven, Evidence: p.Evidence})
		}
	}
	for _, property := range slices.Sorted(maps.Keys(c.Exempt)) {
		if !c.Proven(property) {
			shown = append(shown, dashboard.Proof{Property: string(property), Exempt: true, Evidence: c.Exempt[property]})
		}
	}
	return shown
}
