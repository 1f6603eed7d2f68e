package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/batch"
	"onejob/e2e/process"
	"onejob/jobs"
	"onejob/recovery"
	"onejob/tasks"
)

// published are the messages passed on in groups, publishedAlone one by one.
const published, publishedAlone = 200_000, 10_000

// measurePublish measures PUBLISH in a Cluster. Every node is told of every message,
// whoever listens: that is how a Cluster passes them on.
func measurePublish(ctx context.Context, at *stand, _ settings, m *measured) error {
	node := redis.NewClient(&redis.Options{Addr: at.addrs[0]})
	defer func() { _ = node.Close() }()
	each, err := publishing(ctx, at, published, func(ctx context.Context) error { return publishGroups(ctx, node) })
	if err != nil {
		return err
	}
	alone, err := publishing(ctx, at, publishedAlone, func(ctx context.Context) error {
		for range publishedAlone {
			if err := node.Publish(ctx, channel, "running").Err(); err != nil {
				return fmt.Errorf("publishing: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Publish = publish{Here: each[0], There: (each[1] + each[2]) / 2, Alone: (alone[1] + alone[2]) / 2}
	return nil
}

// channel is named as a job's is.
const channel = "oj:{0}:changed:job_00000000000000000000000000"

func publishGroups(ctx context.Context, node *redis.Client) error {
	for range published / 1000 {
		pipe := node.Pipeline()
		for range 1000 {
			pipe.Publish(ctx, channel, "running")
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("publishing: %w", err)
		}
	}
	return nil
}

// publishing is what n messages cost each node, one.
func publishing(ctx context.Context, at *stand, n int, do func(context.Context) error) ([]float64, error) {
	before, err := startMeter(at.pids()...)
	if err != nil {
		return nil, err
	}
	if err := do(ctx); err != nil {
		return nil, err
	}
	// The others work off what is on its way to them.
	if err := settle(ctx, before); err != nil {
		return nil, err
	}
	return before.each(n)
}

// settle waits until the processes of a meter have nothing left to do.
func settle(ctx context.Context, m *meter) error {
	last, err := m.read()
	if err != nil {
		return err
	}
	return process.Until(ctx, startTime, func(context.Context) error {
		<-time.After(200 * time.Millisecond)
		now, err := m.read()
		if err != nil {
			return err
		}
		for i := range now {
			if now[i]-last[i] > 20*time.Millisecond {
				err = fmt.Errorf("process %d is busy", m.pids[i])
			}
		}
		last = now
		return err
	})
}

// expired is how many jobs are taken off the indexes.
const expired = 20_000

// measureSweep measures sweeps that find nothing, and one sweeper that takes expired
// jobs off the indexes as fast as it can.
func measureSweep(ctx context.Context, at *stand, _ settings, m *measured) error {
	store := jobs.NewStore(at.rdb, jobs.Options{})
	defer func() { _ = store.Close() }()
	sweeper := recovery.NewSweeper(recovery.Options{
		Store: store, Queue: tasks.NewQueue(at.rdb, func(string) time.Duration { return time.Minute }),
		Reconciler: &recovery.Reconciler{Store: store}, Log: slog.New(slog.DiscardHandler),
		Remind: func(string, string) jobs.Reminders { return jobs.Reminders{} },
	})
	if err := sweeper.Sweep(ctx); err != nil {
		return err
	}
	const sweeps = 2000
	redisEach, own, _, err := cost(ctx, at, sweeps, func(ctx context.Context) error {
		for range sweeps {
			if err := sweeper.Sweep(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Sweep.IdleRedis, m.Sweep.IdleWorker = redisEach, own
	if err := storeExpired(ctx, at.rdb); err != nil {
		return err
	}
	redisEach, own, took, err := cost(ctx, at, expired, func(ctx context.Context) error {
		for {
			overdue, _, err := store.Overdue(ctx)
			if err != nil || len(overdue) == 0 {
				return err
			}
			if err := sweeper.Sweep(ctx); err != nil {
				return err
			}
		}
	})
	m.Sweep.ExpireRedis, m.Sweep.ExpireWorker, m.Sweep.ExpirePerSecond = redisEach, own, expired/took.Seconds()
	return err
}

// cost is what doing something n times costs Redis and this program, each time.
func cost(ctx context.Context, at *stand, n int, do func(context.Context) error) (redis, own float64, took time.Duration, err error) {
	before, err := startMeter(at.pids()...)
	if err != nil {
		return 0, 0, 0, err
	}
	began, used := time.Now(), ownTime()
	if err := do(ctx); err != nil {
		return 0, 0, 0, err
	}
	took = time.Since(began)
	own = float64((ownTime() - used).Microseconds()) / float64(n)
	each, err := before.each(n)
	if err != nil {
		return 0, 0, 0, err
	}
	return whole{Nodes: each}.redis(), own, took, nil
}

// storeExpired leaves what so many jobs leave in the indexes when their records have
// expired.
func storeExpired(ctx context.Context, rdb redis.UniversalClient) error {
	scripts, err := batch.New(rdb, nil)
	if err != nil {
		return fmt.Errorf("gathering scripts: %w", err)
	}
	store := jobs.NewStore(rdb, jobs.Options{Scripts: scripts, KeepJob: time.Second, KeepKey: time.Second})
	defer func() { _ = store.Close() }()
	if _, err := lives(ctx, store, func(done int) bool { return done < expired }); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for jobs to expire: %w", ctx.Err())
	case <-time.After(3 * time.Second):
		return nil
	}
}

// measurePoll measures what an idle worker's look at a queue costs: workers of one and
// of more queues, by their difference.
func measurePoll(ctx context.Context, at *stand, s settings, m *measured) error {
	const more, perSecond = 10, 50
	used := func(queues int) (redis, worker float64, err error) {
		names := make([]string, queues)
		for i := range names {
			names[i] = "press-" + strconv.Itoa(i)
		}
		cmd, _, err := at.onejob(ctx, "worker", names)
		if err != nil {
			return 0, 0, err
		}
		defer process.Stop(cmd)
		before, err := startMeter(at.nodes[0].Process.Pid, cmd.Process.Pid)
		if err != nil {
			return 0, 0, err
		}
		began := time.Now()
		select {
		case <-ctx.Done():
			return 0, 0, fmt.Errorf("watching an idle worker: %w", ctx.Err())
		case <-time.After(2 * s.duration):
		}
		each, err := before.each(1)
		if err != nil {
			return 0, 0, err
		}
		seconds := time.Since(began).Seconds()
		return each[0] / seconds, each[1] / seconds, nil
	}
	fewRedis, fewWorker, err := used(1)
	if err != nil {
		return err
	}
	manyRedis, manyWorker, err := used(1 + more)
	m.Poll = poll{Redis: (manyRedis - fewRedis) / (more * perSecond), Worker: (manyWorker - fewWorker) / (more * perSecond)}
	return err
}

// fsyncMicros is the median time to append a kilobyte to a file and to sync it.
func fsyncMicros(dir string) (float64, error) {
	file, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return 0, fmt.Errorf("making a file: %w", err)
	}
	defer func() { _ = file.Close() }()
	kilobyte, times := make([]byte, 1024), make([]float64, 0, 500)
	for range cap(times) {
		began := time.Now()
		if _, err := file.Write(kilobyte); err != nil {
			return 0, fmt.Errorf("writing a file: %w", err)
		}
		if err := file.Sync(); err != nil {
			return 0, fmt.Errorf("syncing a file: %w", err)
		}
		times = append(times, float64(time.Since(began))/float64(time.Microsecond))
	}
	return median(times), nil
}

func median(values []float64) float64 {
	sorted := sortedCopy(values)
	return sorted[len(sorted)/2]
}

// number is one of INFO's.
func number(info, name string) float64 {
	n, _ := strconv.ParseFloat(field(info, name), 64)
	return n
}
