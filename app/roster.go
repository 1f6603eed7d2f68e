package app

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"onejob/handlers"
	"onejob/jobs"
	"onejob/providers"
	"onejob/recovery"
	"onejob/roster"
)

// presence is what this process is on the roster, from its start until its calls
// are drained.
type presence struct {
	self     roster.Process
	draining atomic.Bool
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// tallies are the calls of this process by provider.
type tallies map[string]*roster.Tally

func (a *App) kind() roster.Kind {
	switch {
	case a.embedded:
		return roster.KindDev
	case a.serveAPI && a.work:
		return roster.KindServe
	case a.work:
		return roster.KindWorker
	}
	return roster.KindAPI
}

// appear begins to tell the others of this process.
func (a *App) appear() {
	host, _ := os.Hostname()
	a.presence.self = roster.Process{
		ID: roster.NewID(), Kind: a.kind(), Host: host, PID: os.Getpid(), Version: a.version, Schema: jobs.Schema,
		Started: time.Now().UTC().Truncate(time.Millisecond), Addr: a.Addr(), AdminAddr: a.AdminAddr(),
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.presence.cancel = cancel
	publisher := &roster.Publisher{Roster: roster.Roster{Redis: a.rdb}, Describe: a.record, Log: a.log}
	a.presence.done.Go(func() { publisher.Run(ctx) })
}

// disappear takes this process off the roster.
func (p *presence) disappear() {
	if p.cancel != nil {
		p.cancel()
	}
	p.done.Wait()
}

// record is what this process tells of itself now.
func (a *App) record() roster.Process {
	now := time.Now()
	p := a.presence.self
	p.Draining = a.presence.draining.Load()
	p.Rewinds = a.look.count()
	if !a.work {
		return p
	}
	p.Sweeper = a.metrics.sweeps.sweeper()
	for _, name := range providerNames(a.cfg) {
		cfg := a.cfg.Providers[name]
		provider := roster.Provider{
			Name: name, Type: cfg.Type, Model: cfg.Model, Concurrency: cfg.Concurrency, Breaker: roster.BreakerOff,
		}
		if breaker := a.breakers[name]; breaker != nil {
			provider.Breaker = string(breaker.State())
		}
		a.tallies[name].Fill(&provider, now)
		p.Providers = append(p.Providers, provider)
	}
	return p
}

// countWork makes what is counted of the work of this process.
func (a *App) countWork() {
	a.metrics.sweeps = newSweepMetrics(a.metrics.factory)
	for _, name := range providerNames(a.cfg) {
		a.tallies[name] = &roster.Tally{}
		a.metrics.calls.known(name, a.cfg.Providers[name].Concurrency)
	}
}

// observeCalls is handlers.Options.Observe.
func (a *App) observeCalls() handlers.Observer {
	m := a.metrics.calls
	return handlers.Observer{
		Claimed: func(e handlers.Claimed) {
			m.claimed(e)
			if e.Answer == handlers.AnswerClaimed {
				a.tallies[e.Provider].Began()
			}
		},
		Suspected: func(e handlers.Suspected) { m.suspected(e.Provider, e.Reason) },
		LeaseLost: func(provider string) { m.leasesLost.WithLabelValues(provider).Inc() },
		Ended: func(e handlers.Ended) {
			m.ended(e)
			tally := a.tallies[e.Provider]
			tally.Left()
			tally.Ended(time.Now(), tallied(e.Outcome), m.reasons.word(e.Reason), e.Took)
		},
	}
}

// tallied is an outcome as the roster counts it. Accepted: somebody else has heard
// of the end and reported it, so the provider did its part.
func tallied(k providers.Kind) roster.Outcome {
	switch k {
	case providers.Succeeded, providers.Accepted:
		return roster.Succeeded
	case providers.Failed:
		return roster.Failed
	}
	return roster.Unknown
}

// observeSweeps is recovery.Options.Observe.
func (a *App) observeSweeps() recovery.Observer {
	m := a.metrics.calls
	return recovery.Observer{
		Swept:     a.metrics.sweeps.swept,
		Suspected: func(provider string) { m.suspected(provider, "lapsed") },
	}
}

// observeAnswers is recovery.Reconciler.Observe, also of an api, which takes
// callbacks.
func (a *App) observeAnswers() recovery.Observer {
	m := a.metrics.calls
	return recovery.Observer{
		Asked:   func(provider, said string) { m.lookups.WithLabelValues(provider, said).Inc() },
		Settled: m.settled,
	}
}
