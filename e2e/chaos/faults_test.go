package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"onejob/redistest"
)

// quotas are how many faults of each kind a run plans.
type quotas struct {
	WorkerKill, WorkerTerm, WorkerPause int
	APIKill, APITerm, APIPause          int
	RedisKill, RedisPause               int
	ProviderKill, Toxic                 int
}

// fault is done to something. It tells how much work was under way there.
type fault func(ctx context.Context) (found int, err error)

// kind is the faults of one kind, in the order of the plan.
type kind struct {
	name  string
	plan  []fault
	done  atomic.Int64 // fired or failed
	fired atomic.Int64
	met   atomic.Int64 // fired while there was work under way
	work  atomic.Int64 // how much, in all
	last  atomic.Value // the last error
}

// planned draws the plan from the seed. A fault's turn comes with the number of jobs
// submitted, not with time; of two processes of a kind it takes the other when
// something is being done to the first.
func (w *world) planned(q quotas) []*kind {
	dice := rand.New(rand.NewPCG(uint64(w.seed), 1))
	draw := func(name string, n int, one func() fault) *kind {
		k := &kind{name: name}
		for range n {
			k.plan = append(k.plan, one())
		}
		return k
	}
	restart := func(of []*process, s syscall.Signal) func() fault {
		return func() fault { return w.restarting(of, dice.IntN(len(of)), s) }
	}
	pause := func(of []*process, least, most time.Duration) func() fault {
		return func() fault {
			return w.pausing(of, dice.IntN(len(of)), least+time.Duration(dice.Int64N(int64(most-least)+1)))
		}
	}
	redis, provider := []*process{w.redis}, []*process{w.provider}
	var deck []toxic
	return []*kind{
		draw("worker kill -9", q.WorkerKill, restart(w.workers, syscall.SIGKILL)),
		draw("worker SIGTERM", q.WorkerTerm, restart(w.workers, syscall.SIGTERM)),
		draw("worker SIGSTOP", q.WorkerPause, pause(w.workers, lease+time.Second, lease+2*time.Second)),
		draw("API kill -9", q.APIKill, restart(w.apis, syscall.SIGKILL)),
		draw("API SIGTERM", q.APITerm, restart(w.apis, syscall.SIGTERM)),
		draw("API SIGSTOP", q.APIPause, pause(w.apis, time.Second, 3*time.Second)),
		draw("Redis kill -9", q.RedisKill, restart(redis, syscall.SIGKILL)),
		draw("Redis SIGSTOP", q.RedisPause, pause(redis, 500*time.Millisecond, lease+time.Second)),
		draw("provider kill -9", q.ProviderKill, restart(provider, syscall.SIGKILL)),
		draw("network", q.Toxic, func() fault { return w.drawToxic(dice, &deck) }),
	}
}

func (w *world) restarting(of []*process, which int, s syscall.Signal) fault {
	return w.doing(of, which, func(ctx context.Context, p *process) error {
		began := time.Now()
		err := p.restart(ctx, s)
		if p == w.redis {
			for redistest.Ready(p.addr) != nil && ctx.Err() == nil {
				continue // it reads what it wrote; Ready has waited
			}
			w.redisAway += time.Since(began)
			if err == nil {
				err = w.rewriteTorn(ctx)
			}
		}
		return err
	})
}

func (w *world) pausing(of []*process, which int, d time.Duration) fault {
	return w.doing(of, which, func(ctx context.Context, p *process) error { return p.pause(ctx, d) })
}

// doing holds a process, waits for it to have work, and does something to it. One
// that gave up right then is started, and has the same done to it.
func (w *world) doing(of []*process, which int, something func(context.Context, *process) error) fault {
	return func(ctx context.Context) (found int, err error) {
		p := hold(of, which)
		defer p.Unlock()
		const tries = 5
		for range tries {
			if err = p.alive(); err != nil {
				return 0, err
			}
			found = w.awaitWork(ctx, p)
			if err = something(ctx, p); !errors.Is(err, os.ErrProcessDone) {
				return found, err
			}
			<-p.done
		}
		return found, err
	}
}

// awaitWork waits a moment for work to be under way at the process, so that a fault
// hits something, and tells how much there is.
func (w *world) awaitWork(ctx context.Context, p *process) int {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for {
		if found := w.work(ctx, p); found > 0 || !rest(ctx, 5*time.Millisecond) {
			return found
		}
	}
}

// work is what is under way at a process: calls of a worker that its provider has
// taken, requests of callers at an API; both at the stores.
func (w *world) work(ctx context.Context, p *process) int {
	found := 0
	for _, worker := range w.workers {
		if p == worker || p == w.provider {
			found += w.flying(ctx, worker)
		}
	}
	for _, api := range w.apis {
		if p == api || p == w.redis {
			found += int(api.asked.Load())
		}
	}
	return found
}

func (w *world) flying(ctx context.Context, worker *process) int {
	resp, raw, err := w.send(ctx, "http://"+w.provider.addr, request{method: http.MethodGet, path: "/flying/" + worker.name})
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0
	}
	n, _ := strconv.Atoi(string(raw))
	return n
}

// turn is how many jobs are submitted when the i-th fault has its turn: from soon
// after the first job to soon before the last.
func (k *kind) turn(i, jobs int) int64 {
	const first, last = 0.02, 0.95
	return int64(float64(jobs) * (first + (last-first)*(float64(i)+0.5)/float64(len(k.plan))))
}

// fire fires the faults of a kind, each when it has its turn.
func (k *kind) fire(ctx context.Context, l *load) {
	for i, one := range k.plan {
		for l.submitted.Load() < k.turn(i, l.jobs) {
			if !rest(ctx, 5*time.Millisecond) {
				return
			}
		}
		found, err := one(ctx)
		if err != nil {
			k.last.Store(fmt.Sprintf("%d of %d: %v", i+1, len(k.plan), err))
		} else {
			k.fired.Add(1)
			k.work.Add(int64(found))
			if found > 0 {
				k.met.Add(1)
			}
		}
		k.done.Add(1)
	}
}

// behind tells whether more than one fault of a kind is overdue: callers wait then,
// so that every fault meets traffic.
func behind(plan []*kind, l *load) bool {
	for _, k := range plan {
		next := int(k.done.Load()) + 1
		if next < len(k.plan) && k.turn(next, l.jobs) <= l.submitted.Load() {
			return true
		}
	}
	return false
}
