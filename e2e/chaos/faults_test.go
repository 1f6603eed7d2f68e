package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
)

// quotas are how many faults of each kind a run plans.
type quotas struct{ Worker, API, Redis, Pause, Toxic, Provider int }

// kind is the faults of one kind, in the order of the plan.
type kind struct {
	name  string
	plan  []func() error
	fired atomic.Int64
	err   atomic.Value
}

// planned draws the plan from the seed. A fault's turn comes with the number of jobs
// submitted, not with time.
func (w *world) planned(q quotas) []*kind {
	dice := rand.New(rand.NewPCG(uint64(w.seed), 1)) //nolint:gosec // a plan that can be repeated
	draw := func(name string, n int, one func() func() error) *kind {
		k := &kind{name: name}
		for range n {
			k.plan = append(k.plan, one())
		}
		return k
	}
	sig := func() syscall.Signal { // one in four is asked to go
		if dice.IntN(4) == 0 {
			return syscall.SIGTERM
		}
		return syscall.SIGKILL
	}
	return []*kind{
		draw("worker", q.Worker, func() func() error {
			p := w.workers[dice.IntN(workers)]
			return func() error { return p.restart(syscall.SIGKILL) }
		}),
		draw("term", q.Worker/4, func() func() error {
			p := w.workers[dice.IntN(workers)]
			return func() error { return p.restart(syscall.SIGTERM) }
		}),
		draw("api", q.API, func() func() error {
			p, s := w.apis[dice.IntN(apis)], sig()
			return func() error { return p.restart(s) }
		}),
		draw("redis", q.Redis, func() func() error {
			return func() error { return w.redis.restart(syscall.SIGKILL) }
		}),
		draw("pause", q.Pause, func() func() error {
			p := w.workers[dice.IntN(workers)]
			return func() error { return p.pause(leaseForTest + time.Second) }
		}),
		draw("provider", q.Provider, func() func() error {
			return func() error { return w.provider.restart(syscall.SIGKILL) }
		}),
		draw("toxic", q.Toxic, func() func() error {
			p, text := w.proxies[dice.IntN(len(w.proxies))], toxics[dice.IntN(len(toxics))]
			return func() error { return poison(p, text, 700*time.Millisecond) }
		}),
	}
}

// toxics are what a network does: resets, black holes, latency, half an answer.
var toxics = []string{
	`"type":"reset_peer","attributes":{"timeout":0}`,
	`"type":"timeout","attributes":{"timeout":0}`,
	`"type":"latency","attributes":{"latency":300,"jitter":100}`,
	`"type":"limit_data","attributes":{"bytes":300}`,
	`"type":"slow_close","attributes":{"delay":300}`,
	`"stream":"upstream","type":"timeout","attributes":{"timeout":0}`,
}

func poison(p *toxiproxy.Proxy, text string, d time.Duration) error {
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(`{"name":"chaos",` + text + `}`)); err != nil {
		return fmt.Errorf("adding a toxic to %s: %w", p.Name, err)
	}
	<-time.After(d)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return p.Toxics.RemoveToxic(ctx, "chaos")
}

// fire fires the faults of a kind, each when its share of the jobs was submitted.
func (k *kind) fire(ctx context.Context, submitted *atomic.Int64, jobs int) {
	for i, one := range k.plan {
		for submitted.Load() < int64((i*2+1)*jobs/(2*len(k.plan))) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
		if err := one(); err != nil {
			k.err.Store(err)
			continue
		}
		k.fired.Add(1)
	}
}

// behind tells whether the plan is late by more than the last few jobs: callers wait then.
func (k *kind) behind(submitted int64, jobs int) bool {
	return len(k.plan) > 0 && int64(len(k.plan))*(submitted-int64(jobs)/10)/int64(jobs) > k.fired.Load()
}
