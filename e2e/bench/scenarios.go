package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// a scenario is one thing measured, once a round.
type scenario struct {
	name string
	once bool // too long for every round
	run  func(ctx context.Context, b *bench, name string) error
}

var scenarios = []scenario{
	{name: "echo", run: floorRate(floorEcho)},
	{name: "setnx", run: floorRate(floorSetNX)},
	{name: "enqueue", run: floorRate(floorEnqueue)},
	{name: "submit", run: submitAlone},
	{name: "submit-executing", run: submitExecuting},
	{name: "replay", run: replay},
	{name: "get", run: getJob},
	{name: "delay", run: delay},
	{name: "end-to-end", run: endToEnd},
}

var ratios = []ratio{
	{of: "submit/s", to: "setnx/s", goal: 0.45},
	{of: "submit/s", to: "enqueue/s", goal: 0.7},
	{of: "submit-executing/s", to: "enqueue/s", goal: 0.35},
	{of: "replay/s", to: "setnx/s", goal: 0.75},
	{of: "get/s", to: "setnx/s", goal: 0.75},
	{of: "end-to-end/s", to: "enqueue/s", goal: 0.25},
}

// rate measures a closed loop.
func (b *bench) rate(ctx context.Context, name string, s *server, next maker) error {
	before, err := b.used(ctx, s)
	if err != nil {
		return err
	}
	m, err := closedLoop(ctx, s.addr, b.conns, b.duration, next)
	if err != nil {
		return err
	}
	b.figures.add(name+"/s", m.perSecond())
	b.figures.add(name+" p50 µs", float64(m.latency.ValueAtQuantile(50)))
	b.figures.add(name+" p99 µs", float64(m.latency.ValueAtQuantile(99)))
	return b.costs(ctx, name, s, before, m.count)
}

// costs adds what each of count calls has cost since before.
func (b *bench) costs(ctx context.Context, name string, s *server, before usage, count int) error {
	after, err := b.used(ctx, s)
	if err != nil {
		return err
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(count) }
	b.figures.add(name+" commands", float64(after.commands-before.commands)/float64(count))
	b.figures.add(name+" cpu of Redis µs", each(after.redis-before.redis))
	b.figures.add(name+" cpu of server µs", each(after.server-before.server))
	return nil
}

func floorRate(kind string) func(context.Context, *bench, string) error {
	return func(ctx context.Context, b *bench, name string) error {
		s, err := b.floor(ctx, kind)
		if err != nil {
			return err
		}
		defer b.stop(s)
		return b.rate(ctx, name, s, floors)
	}
}

// submitAlone is the API with nobody working.
func submitAlone(ctx context.Context, b *bench, name string) error {
	api, err := b.onejob(ctx, "api")
	if err != nil {
		return err
	}
	defer b.stop(api)
	return b.rate(ctx, name, api, submits)
}

// submitExecuting is one process that takes jobs and executes them meanwhile.
func submitExecuting(ctx context.Context, b *bench, name string) error {
	both, err := b.onejob(ctx, "serve")
	if err != nil {
		return err
	}
	defer b.stop(both)
	return b.rate(ctx, name, both, submits)
}

// replayed is how many jobs are asked for again and again.
const replayed = 100

func (b *bench) submitted(ctx context.Context, addr string) (keys, ids []string, err error) {
	c, err := dial(addr)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	for range replayed {
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("submitting: %w", ctx.Err())
		}
		key := newKey()
		status, body, err := c.do(post(nil, "/v1/jobs", key, submitBody))
		if err != nil || status != 202 {
			return nil, nil, fmt.Errorf("submitting: answered %d: %w", status, err)
		}
		keys, ids = append(keys, key), append(ids, idIn(string(body)))
	}
	return keys, ids, nil
}

func idIn(body string) string {
	_, rest, _ := strings.Cut(body, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func replay(ctx context.Context, b *bench, name string) error {
	return b.known(ctx, name, func(keys, _ []string) maker {
		return func(buffer []byte, conn, n int) ([]byte, int) {
			return post(buffer, "/v1/jobs", keys[(conn+n)%replayed], submitBody), 202
		}
	})
}

func getJob(ctx context.Context, b *bench, name string) error {
	return b.known(ctx, name, func(_, ids []string) maker {
		return func(buffer []byte, conn, n int) ([]byte, int) {
			return get(buffer, "/v1/jobs/"+ids[(conn+n)%replayed]), 200
		}
	})
}

// known measures calls about jobs that are there.
func (b *bench) known(ctx context.Context, name string, of func(keys, ids []string) maker) error {
	api, err := b.onejob(ctx, "api")
	if err != nil {
		return err
	}
	defer b.stop(api)
	keys, ids, err := b.submitted(ctx, api.addr)
	if err != nil {
		return err
	}
	return b.rate(ctx, name, api, of(keys, ids))
}

// endToEnd takes a backlog of jobs and counts how many are executed a second.
func endToEnd(ctx context.Context, b *bench, name string) error {
	both, err := b.onejob(ctx, "serve")
	if err != nil {
		return err
	}
	defer b.stop(both)
	before, err := b.used(ctx, both)
	if err != nil {
		return err
	}
	began := time.Now()
	m, err := closedLoop(ctx, both.addr, b.conns, b.duration, submits)
	if err != nil {
		return err
	}
	if err := b.finished(ctx, m.count); err != nil {
		return err
	}
	b.figures.add(name+"/s", float64(m.count)/time.Since(began).Seconds())
	return b.costs(ctx, name, both, before, m.count)
}

// delay measures, in an idle process, from the submission to its claim and its
// end, one job at a time.
func delay(ctx context.Context, b *bench, _ string) error {
	both, err := b.onejob(ctx, "serve")
	if err != nil {
		return err
	}
	defer b.stop(both)
	claims, ends := newHistogram(), newHistogram()
	var mu sync.Mutex
	for end := time.Now().Add(b.duration); time.Now().Before(end) && ctx.Err() == nil; {
		claim, ended, err := b.oneJob(ctx, both.addr)
		if err != nil {
			return err
		}
		mu.Lock()
		_ = claims.RecordValue(claim.Microseconds())
		_ = ends.RecordValue(ended.Microseconds())
		mu.Unlock()
	}
	b.figures.add("submit-to-claim p50 ms", float64(claims.ValueAtQuantile(50))/1000)
	b.figures.add("submit-to-succeeded p50 ms", float64(ends.ValueAtQuantile(50))/1000)
	return nil
}
