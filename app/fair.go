package app

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"onejob/jobs"
	"onejob/tasks"
)

// leastWindow keeps a provider that takes one call at a time from waiting between two
// of them.
const leastWindow = 4

// fairly shares providers between owners. As many wake-ups wait on a queue as it can
// take at once: with fewer a provider would wait for work, with more an owner's first
// job would wait for more of another's calls.
func (a *App) fairly() tasks.QueueOption {
	window := func(provider string) int { return max(leastWindow, a.cfg.Providers[provider].Concurrency) }
	shares := map[string]int{}
	for owner := range a.cfg.Limits.Owners {
		if share := a.cfg.Limits.For(owner).Share; share != 1 {
			shares[jobs.OwnerHash(owner)] = share
		}
	}
	return tasks.Fairly(window, shares)
}

// backlogs tells what is parked, when it is scraped: the same numbers from every
// process. It asks at most every censusFor and waits at most censusTime; what cannot
// be asked is left out.
type backlogs struct {
	queue     *tasks.Queue
	providers []string

	mu     sync.Mutex
	looked time.Time
	known  map[string]tasks.Backlog
}

var (
	descBacklog = describe("onejob_backlog",
		"How many wake-ups wait in their owners' lines for a provider, beside what is on its queue? The same from every process.", "provider")
	descBacklogOwners = describe("onejob_backlog_owners",
		"How many owners have wake-ups waiting in a line for a provider? The same from every process.", "provider")
)

// Describe is prometheus.Collector.
func (b *backlogs) Describe(to chan<- *prometheus.Desc) {
	to <- descBacklog
	to <- descBacklogOwners
}

// Collect is prometheus.Collector.
func (b *backlogs) Collect(to chan<- prometheus.Metric) {
	for provider, backlog := range b.look() {
		to <- prometheus.MustNewConstMetric(descBacklog, prometheus.GaugeValue, float64(backlog.Total), provider)
		to <- prometheus.MustNewConstMetric(descBacklogOwners, prometheus.GaugeValue, float64(len(backlog.ByOwner)), provider)
	}
}

func (b *backlogs) look() map[string]tasks.Backlog {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.looked.IsZero() && time.Since(b.looked) < censusFor {
		return b.known
	}
	ctx, cancel := context.WithTimeout(context.Background(), censusTime)
	defer cancel()
	b.known, b.looked = map[string]tasks.Backlog{}, time.Now()
	for _, provider := range b.providers {
		backlog, err := b.queue.Backlog(ctx, provider)
		if err != nil {
			continue
		}
		b.known[provider] = backlog
	}
	return b.known
}
