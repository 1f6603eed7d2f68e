package app

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"onejob/jobs"
	"onejob/roster"
	"onejob/tasks"
)

// census tells of what is in the store, when it is scraped: the same numbers from
// every process, so take the largest and never the sum. It asks at most every
// censusFor and waits at most censusTime, so that neither many scrapers nor a store
// that hangs do harm; what cannot be asked is left out, and onejob_store_census is 0.
type census struct {
	count     func(context.Context) (jobs.Census, error)
	queues    func(context.Context) (map[string]tasks.Count, error)
	processes func(context.Context) ([]roster.Process, error)
	// settles is a provider's settles_after; 0: an unknown attempt of it stays one.
	settles func(provider string) time.Duration
	pools   func() pools

	mu     sync.Mutex
	looked time.Time
	known  facts
}

const (
	censusFor  = 5 * time.Second
	censusTime = 2 * time.Second
)

// facts are what one look found.
type facts struct {
	err       error
	jobs      jobs.Census
	queues    map[string]tasks.Count
	processes []roster.Process
}

func (c *census) look() facts {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.looked.IsZero() && time.Since(c.looked) < censusFor {
		return c.known
	}
	ctx, cancel := context.WithTimeout(context.Background(), censusTime)
	defer cancel()
	var f facts
	if f.jobs, f.err = c.count(ctx); f.err == nil {
		f.queues, f.err = c.queues(ctx)
	}
	if f.err == nil {
		f.processes, f.err = c.processes(ctx)
	}
	c.known, c.looked = f, time.Now()
	return f
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// What a census tells.
var (
	descCensus = describe("onejob_store_census",
		"Are the numbers about the store's content there? 1 if it could be asked within 2 s; else they are left out.")
	descJobs = describe("onejob_jobs",
		"How many jobs are in each state? Ended ones until their records expire. The same from every process.", "state")
	descDue     = describe("onejob_due_entries", "How much is planned for later? Entries of the due sets. The same from every process.")
	descOverdue = describe("onejob_due_overdue",
		"Do the sweepers keep up? Entries whose time has come and which nobody has taken. The same from every process.")
	descLag = describe("onejob_due_lag_seconds",
		"Does anybody sweep? By how much the oldest entry is overdue. The same from every process.")
	descUnknownAge = describe("onejob_unknown_oldest_age_seconds",
		"How long has the longest unknown attempt been unknown? 0 when there is none. The same from every process.")
	descPerson = describe("onejob_unknown_needing_person",
		"How many jobs wait for a person? Unknown, and neither listened to, looked up nor going to be settled. The same from every process.")
	descPersonAge = describe("onejob_unknown_needing_person_oldest_age_seconds",
		"For how long has the oldest of those been unknown? 0 when there is none. The same from every process.")
	descQueue = describe("onejob_queue_tasks",
		"What waits in the queues? Tasks by state; archived wake-ups are an operator's holds. The same from every process.", "queue", "state")
	descPaused  = describe("onejob_queue_paused", "Is a queue paused? The same from every process.", "queue")
	descWorkers = describe("onejob_queue_workers",
		"Does anybody work for a provider? Processes on the roster that do. The same from every process.", "queue")
	descProcesses = describe("onejob_processes",
		"Which processes are there? Those on the roster, by kind. The same from every process.", "kind")
	descPool = describe("onejob_store_connections",
		"Are there enough connections to Redis? Those of this process, by state.", "state")
	descPoolTimeouts = describe("onejob_store_connection_timeouts_total",
		"Did anybody wait in vain for a connection to Redis? Times in this process.")
)

// Describe is prometheus.Collector.
func (c *census) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descCensus, descJobs, descDue, descOverdue, descLag, descUnknownAge, descPerson, descPersonAge, descQueue,
		descPaused, descWorkers, descProcesses, descPool, descPoolTimeouts,
	} {
		to <- d
	}
}

// Collect is prometheus.Collector.
func (c *census) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	pools := c.pools()
	gauge(descPool, float64(pools.idle), "idle")
	gauge(descPool, float64(pools.total-min(pools.idle, pools.total)), "in_use")
	to <- prometheus.MustNewConstMetric(descPoolTimeouts, prometheus.CounterValue, float64(pools.timeouts))
	found := c.look()
	gauge(descCensus, one(found.err == nil))
	if found.err != nil {
		return
	}
	for state, n := range found.jobs.Jobs {
		gauge(descJobs, float64(n), string(state))
	}
	gauge(descDue, float64(found.jobs.Due))
	gauge(descOverdue, float64(found.jobs.Overdue))
	gauge(descLag, found.jobs.Lag.Seconds())
	c.collectUnknown(gauge, found.jobs.Unknown, time.Now())
	collectQueues(gauge, found)
}

type gauge func(d *prometheus.Desc, value float64, labels ...string)

func (c *census) collectUnknown(gauge gauge, unknown []jobs.UnknownAttempt, now time.Time) {
	var oldest, oldestOfPerson time.Duration
	persons := 0
	for _, u := range unknown {
		age := max(0, now.Sub(u.Since.Go()))
		oldest = max(oldest, age)
		if u.Settling || age < c.settles(u.Provider) {
			continue
		}
		persons++
		oldestOfPerson = max(oldestOfPerson, age)
	}
	gauge(descUnknownAge, oldest.Seconds())
	gauge(descPerson, float64(persons))
	gauge(descPersonAge, oldestOfPerson.Seconds())
}

func collectQueues(gauge gauge, found facts) {
	workers := map[string]int{}
	kinds := map[roster.Kind]int{roster.KindAPI: 0, roster.KindWorker: 0, roster.KindServe: 0, roster.KindDev: 0}
	for _, p := range found.processes {
		kinds[p.Kind]++
		for _, provider := range p.Providers {
			workers[provider.Name]++
		}
		if p.Kind.Works() {
			workers[tasks.QueueOperator]++
			workers[tasks.QueueWebhooks]++
		}
	}
	for kind, n := range kinds {
		gauge(descProcesses, float64(n), string(kind))
	}
	for queue, n := range found.queues {
		for state, count := range map[string]int64{
			"pending": n.Pending, "active": n.Active, "scheduled": n.Scheduled, "retry": n.Retry, "archived": n.Archived,
		} {
			gauge(descQueue, float64(count), queue, state)
		}
		gauge(descPaused, one(n.Paused), queue)
		gauge(descWorkers, float64(workers[queue]), queue)
	}
}

// census is what this process tells of the store.
func (a *App) census() *census {
	queues := append(providerNames(a.cfg), tasks.QueueOperator, tasks.QueueWebhooks)
	return &census{
		count:     a.store.Census,
		queues:    func(ctx context.Context) (map[string]tasks.Count, error) { return a.queue.Count(ctx, queues) },
		processes: roster.Roster{Redis: a.rdb}.List,
		settles:   func(provider string) time.Duration { return a.cfg.Providers[provider].SettlesAfter },
		pools:     a.pools,
	}
}
