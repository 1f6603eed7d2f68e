package main

import (
	"context"
	"fmt"
	"time"
)

// warmTime is how long a load runs before it is measured: connections are made,
// scripts are loaded, memory is got.
const warmTime = 200 * time.Millisecond

// rate measures a closed loop.
func (b *bench) rate(ctx context.Context, name string, s *server, next maker) error {
	return b.rateFor(ctx, name, s, extent{duration: b.duration}, next)
}

func (b *bench) rateFor(ctx context.Context, name string, s *server, until extent, next maker) error {
	if _, err := closedLoop(ctx, s.addr, b.conns, extent{duration: warmTime}, next); err != nil {
		return err
	}
	before, err := b.used(ctx, s)
	if err != nil {
		return err
	}
	m, err := closedLoop(ctx, s.addr, b.conns, until, next)
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
	each := func(total float64) float64 { return total / float64(count) }
	b.figures.add(name+" scripts", each(float64(after.scripts-before.scripts)))
	b.figures.add(name+" cpu of Redis µs", each(float64((after.redis-before.redis).Nanoseconds())/1000))
	b.figures.add(name+" cpu of server µs", each(float64((after.server-before.server).Nanoseconds())/1000))
	b.figures.add(name+" cpu µs", each(float64((after.redis-before.redis+after.server-before.server).Nanoseconds())/1000))
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

func submitted(ctx context.Context, addr string) (keys, ids []string, err error) {
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
		body, err := c.expect(post(nil, "/v1/jobs", key, submitBody), 202)
		if err != nil {
			return nil, nil, fmt.Errorf("submitting: %w", err)
		}
		keys, ids = append(keys, key), append(ids, idIn(body))
	}
	return keys, ids, nil
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
	keys, ids, err := submitted(ctx, api.addr)
	if err != nil {
		return err
	}
	return b.rate(ctx, name, api, of(keys, ids))
}

// endToEnd takes a backlog of jobs and counts how many are executed a second, from
// the first submission to the last result.
func endToEnd(ctx context.Context, b *bench, name string) error {
	both, err := b.onejob(ctx, "serve")
	if err != nil {
		return err
	}
	defer b.stop(both)
	return b.backlog(ctx, name, both, submits, b.store.finished)
}

// floorEndToEnd is the same with bare tasks.
func floorEndToEnd(ctx context.Context, b *bench, name string) error {
	s, err := b.floor(ctx, floorWorked)
	if err != nil {
		return err
	}
	defer b.stop(s)
	return b.backlog(ctx, name, s, floors, b.store.processed)
}

// backlog measures how many a second are done of what is submitted meanwhile; done
// waits for so many.
func (b *bench) backlog(ctx context.Context, name string, s *server, next maker, done func(context.Context, int) error) error {
	warm, err := closedLoop(ctx, s.addr, b.conns, extent{duration: warmTime}, next)
	if err != nil {
		return err
	}
	if err := done(ctx, warm.count); err != nil {
		return err
	}
	before, err := b.used(ctx, s)
	if err != nil {
		return err
	}
	began := time.Now()
	m, err := closedLoop(ctx, s.addr, b.conns, extent{duration: b.duration}, next)
	if err != nil {
		return err
	}
	if err := done(ctx, warm.count+m.count); err != nil {
		return err
	}
	b.figures.add(name+"/s", float64(m.count)/time.Since(began).Seconds())
	return b.costs(ctx, name, s, before, m.count)
}

// everySecond has Redis sync once a second while something is measured.
func everySecond(run func(context.Context, *bench, string) error) func(context.Context, *bench, string) error {
	return func(ctx context.Context, b *bench, name string) error {
		if err := b.store.sync(ctx, "everysec"); err != nil {
			return err
		}
		err := run(ctx, b, name)
		if back := b.store.sync(ctx, "always"); err == nil {
			err = back
		}
		return err
	}
}

func (s *store) sync(ctx context.Context, when string) error {
	if err := s.rdb.ConfigSet(ctx, "appendfsync", when).Err(); err != nil {
		return fmt.Errorf("setting appendfsync: %w", err)
	}
	return nil
}
