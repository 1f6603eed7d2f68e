package handlers_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/handlers"
	"onejob/jobs"
	"onejob/logtest"
	"onejob/providers"
	"onejob/tasks"
)

// patience bounds every wait of these tests.
const patience = 15 * time.Second

// settings are the clocks of a bench; the zero value is slow enough not to matter.
type settings struct {
	lease, beat, timeout, deadline time.Duration
	policy                         func(string) *jobs.Policy
}

func (s settings) withDefaults() settings {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&s.lease, 30 * time.Second}, {&s.beat, 10 * time.Second}, {&s.timeout, 20 * time.Second}, {&s.deadline, 30 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if s.policy == nil {
		s.policy = func(string) *jobs.Policy {
			return &jobs.Policy{MaxAttempts: 1, Tries: 1, Failover: "untested", Providers: []jobs.PolicyProvider{{Name: "inkjet"}}}
		}
	}
	return s
}

// bench is a worker with a real queue, over a miniredis, and a provider that
// does as the test says.
type bench struct {
	t        *testing.T
	ctx      context.Context
	redis    *miniredis.Miniredis
	rdb      *redis.Client
	store    *jobs.Store
	queue    *tasks.Queue
	waker    *tasks.Waker
	worker   *handlers.Worker
	provider *gated
	ended    chan handlers.Ended
	log      logtest.Buffer

	claims     chan handlers.Claimed
	suspicions chan handlers.Suspected
	lost       chan string
}

func setup(t *testing.T, s settings) *bench {
	t.Helper()
	s = s.withDefaults()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	b := &bench{t: t, ctx: ctx, redis: miniredis.RunT(t), provider: newGated(), ended: make(chan handlers.Ended, 100)}
	b.claims, b.suspicions, b.lost = make(chan handlers.Claimed, 100), make(chan handlers.Suspected, 100), make(chan string, 100)
	b.redis.ClockTTL(true)
	b.rdb = redis.NewClient(&redis.Options{Addr: b.redis.Addr(), MaxRetries: -1})
	b.store = jobs.NewStore(b.rdb, jobs.Options{Lease: s.lease})
	b.queue = tasks.NewQueue(b.rdb, func(string) time.Duration { return time.Minute })
	log := slog.New(slog.DiscardHandler)
	b.waker = tasks.NewWaker(b.queue, log)
	b.worker = handlers.NewWorker(handlers.Options{
		Store: b.store, Waker: b.waker, Policy: jobs.PolicyByRoute(s.policy), Beat: s.beat, Log: slog.New(slog.NewJSONHandler(&b.log, nil)),
		Providers: map[string]handlers.Provider{
			"inkjet": {Provider: b.provider, Name: "inkjet", Timeout: s.timeout, Deadline: s.deadline},
		},
		Observe: handlers.Observer{
			Claimed: func(e handlers.Claimed) { b.claims <- e }, Suspected: func(e handlers.Suspected) { b.suspicions <- e },
			LeaseLost: func(provider string) { b.lost <- provider }, Ended: func(e handlers.Ended) { b.ended <- e },
		},
	})
	server := asynq.NewServerFromRedisClient(b.rdb, asynq.Config{
		Concurrency: 10, Queues: map[string]int{"inkjet": 1}, TaskCheckInterval: 5 * time.Millisecond,
		ShutdownTimeout: 100 * time.Millisecond, LogLevel: asynq.FatalLevel,
	})
	require.NoError(t, server.Start(asynq.HandlerFunc(b.worker.Handle)))
	t.Cleanup(func() {
		b.worker.Stop()
		server.Stop()
		b.provider.close()
		drain, done := context.WithTimeout(context.Background(), patience)
		_ = b.worker.Drain(drain)
		done()
		server.Shutdown()
		b.waker.Close()
		_ = b.store.Close()
		_ = b.rdb.Close()
		cancel()
	})
	return b
}

// submit records a job and enqueues its wake-up.
func (b *bench) submit(key string) string {
	b.t.Helper()
	s, err := b.store.Submit(b.ctx, jobs.Submission{
		Owner: "dev", Key: key, Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{"page":1}`),
	})
	require.NoError(b.t, err)
	for _, w := range s.Wakes {
		b.waker.Wake(b.ctx, w)
	}
	return s.Job.ID
}

// deliver puts a further wake-up of an attempt on the queue, under an id of its
// own: what asynq, a sweeper or an operator does by repeating one.
func (b *bench) deliver(jobID string, attempt int, id string) {
	b.t.Helper()
	payload, err := json.Marshal(tasks.Wake{JobID: jobID, Attempt: attempt})
	require.NoError(b.t, err)
	_, err = asynq.NewClientFromRedisClient(b.rdb).EnqueueContext(b.ctx,
		asynq.NewTask(tasks.TypeWake, payload, asynq.TaskID(id), asynq.Queue("inkjet"), asynq.Retention(time.Hour)))
	require.NoError(b.t, err)
}

// delivered waits until a task was handled to its end.
func (b *bench) delivered(id string) {
	b.t.Helper()
	inspector := asynq.NewInspectorFromRedisClient(b.rdb)
	require.Eventually(b.t, func() bool {
		info, err := inspector.GetTaskInfo("inkjet", id)
		return err == nil && info.State == asynq.TaskStateCompleted
	}, patience, 5*time.Millisecond, "task %s was not handled", id)
}

func (b *bench) get(id string) *jobs.Job {
	b.t.Helper()
	job, err := b.store.Get(b.ctx, id)
	require.NoError(b.t, err)
	return job
}

func (b *bench) untilState(id string, state jobs.State) *jobs.Job {
	b.t.Helper()
	var job *jobs.Job
	require.Eventually(b.t, func() bool {
		var err error
		job, err = b.store.Get(b.ctx, id)
		return err == nil && job.State == state
	}, patience, 5*time.Millisecond, "job %s never was %s", id, state)
	return job
}

func (b *bench) end() handlers.Ended {
	b.t.Helper()
	select {
	case e := <-b.ended:
		return e
	case <-time.After(patience):
		require.FailNow(b.t, "no call ended")
		return handlers.Ended{}
	}
}

// gated is a provider whose calls wait for the test before and after they leave.
type gated struct {
	arrived chan *visit
	closed  chan struct{}
	once    sync.Once
	// before runs before the call leaves; nil: nothing.
	before func(*providers.Call)

	mu      sync.Mutex
	creates map[string]int
}

// visit is a call that has left and waits for its answer.
type visit struct {
	call   *providers.Call
	ctx    context.Context
	answer chan providers.Outcome
}

func newGated() *gated {
	return &gated{arrived: make(chan *visit, 100), closed: make(chan struct{}), creates: map[string]int{}}
}

func (g *gated) close() { g.once.Do(func() { close(g.closed) }) }

func (g *gated) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	if g.before != nil {
		g.before(call)
	}
	if err := call.Wire.Leaving(); err != nil {
		return providers.Outcome{Kind: providers.Failed, Reason: providers.ReasonNotSent, Message: err.Error(), Effect: providers.EffectNone}
	}
	call.Wire.Wrote(1)
	g.mu.Lock()
	g.creates[call.AttemptID]++
	g.mu.Unlock()
	v := &visit{call: call, ctx: ctx, answer: make(chan providers.Outcome, 1)}
	g.arrived <- v
	select {
	case o := <-v.answer:
		return o
	case <-g.closed:
	case <-ctx.Done():
	}
	return providers.Outcome{Kind: providers.Unknown, Reason: providers.ReasonStopped, Effect: providers.EffectUnknown}
}

func (g *gated) next(t *testing.T) *visit {
	t.Helper()
	select {
	case v := <-g.arrived:
		return v
	case <-time.After(patience):
		require.FailNow(t, "no call left")
		return nil
	}
}

func (g *gated) created() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make(map[string]int, len(g.creates))
	maps.Copy(all, g.creates)
	return all
}

func (v *visit) succeed(result string) {
	v.answer <- providers.Outcome{Kind: providers.Succeeded, Result: json.RawMessage(result), Effect: providers.EffectDone}
}
