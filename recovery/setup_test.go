package recovery

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/providers"
	"onejob/tasks"
)

// watch is a sweeper over a store and a queue; no worker runs, so that nothing
// happens but what a sweep does.
type watch struct {
	*Sweeper
	t         *testing.T
	ctx       context.Context
	rdb       *redis.Client
	store     *jobs.Store
	inspector *asynq.Inspector
	asked     *asked
}

// asked is a provider that is only asked about attempts.
type asked struct {
	mu      sync.Mutex
	answer  providers.Outcome
	lookups []providers.Ref
	cancels []providers.Ref
}

func (a *asked) Execute(context.Context, *providers.Call) providers.Outcome {
	panic("recovery made a create")
}

func (a *asked) Lookup(_ context.Context, ref providers.Ref) providers.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lookups = append(a.lookups, ref)
	return a.answer
}

func (a *asked) Cancel(_ context.Context, ref providers.Ref) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancels = append(a.cancels, ref)
	return nil
}

type noWaker struct{}

func (noWaker) Wake(context.Context, jobs.Wake) {}

func setup(t *testing.T, rdb *redis.Client) *watch {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	log := slog.New(slog.DiscardHandler)
	w := &watch{t: t, ctx: ctx, rdb: rdb, asked: &asked{}, inspector: asynq.NewInspectorFromRedisClient(rdb)}
	w.store = jobs.NewStore(rdb, jobs.Options{Lease: 15 * time.Second})
	policy := &jobs.Policy{
		MaxAttempts: 2, Tries: 1, Failover: "untested", Providers: []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser"}},
	}
	w.Sweeper = NewSweeper(Options{
		Store: w.store, Queue: tasks.NewQueue(rdb, func(string) time.Duration { return time.Minute }), Log: log,
		Remind: func(string, string) jobs.Reminders { return jobs.Reminders{} },
		Reconciler: &Reconciler{
			Store: w.store, Waker: noWaker{}, Log: log, Policy: jobs.PolicyByRoute(func(string) *jobs.Policy { return policy }),
			Providers: map[string]Provider{"inkjet": {Provider: w.asked, Name: "inkjet", Deadline: time.Minute}},
		},
	})
	w.swept(0) // a moment ago
	t.Cleanup(func() {
		cancel()
		_ = w.store.Close()
	})
	return w
}

// swept makes the latest sweep of anybody be so long ago.
func (w *watch) swept(ago time.Duration) {
	w.t.Helper()
	now, err := w.rdb.Time(w.ctx).Result()
	require.NoError(w.t, err)
	require.NoError(w.t, w.rdb.HSet(w.ctx, "oj:sweep", "swept", now.Add(-ago).UnixMilli(), "patient", 0).Err())
}

// sweep sweeps once and waits for what it began.
func (w *watch) sweep() {
	w.t.Helper()
	require.NoError(w.t, w.Sweep(w.ctx))
	w.options.Reconciler.Wait()
}

func (w *watch) submit(key string, within time.Duration) string {
	w.t.Helper()
	s, err := w.store.Submit(w.ctx, jobs.Submission{
		Owner: "dev", Key: key, Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`), StartWithin: within,
	})
	require.NoError(w.t, err)
	return s.Job.ID
}

// claim takes attempt 1 with a lease; a negative one has lapsed.
func (w *watch) claim(id string, lease time.Duration) *jobs.Claim {
	w.t.Helper()
	store := jobs.NewStore(w.rdb, jobs.Options{Lease: lease})
	w.t.Cleanup(func() { _ = store.Close() })
	c, err := store.Claim(w.ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: "t", Provider: "inkjet", Deadline: time.Hour})
	require.NoError(w.t, err)
	return c
}

func (w *watch) get(id string) *jobs.Job {
	w.t.Helper()
	job, err := w.store.Get(w.ctx, id)
	require.NoError(w.t, err)
	return job
}

// due brings every entry of a kind to its time.
func (w *watch) due(kind string) {
	w.t.Helper()
	moved := 0
	for _, key := range w.rdb.Keys(w.ctx, "oj:*due").Val() {
		for _, member := range w.rdb.ZRange(w.ctx, key, 0, -1).Val() {
			if strings.HasPrefix(member, kind+":") {
				require.NoError(w.t, w.rdb.ZAdd(w.ctx, key, redis.Z{Score: 1, Member: member}).Err())
				moved++
			}
		}
	}
	require.NotZero(w.t, moved, "nothing is due of kind %s", kind)
}

// dueAt is when the one entry of a kind is due, in ms by the store's clock.
func (w *watch) dueAt(kind string) float64 {
	w.t.Helper()
	for _, key := range w.rdb.Keys(w.ctx, "oj:*due").Val() {
		for _, entry := range w.rdb.ZRangeWithScores(w.ctx, key, 0, -1).Val() {
			if strings.HasPrefix(entry.Member.(string), kind+":") {
				return entry.Score
			}
		}
	}
	require.FailNow(w.t, "nothing is due", "of kind %s", kind)
	return 0
}

// left lists what is due, now or later.
func (w *watch) left() []string {
	var all []string
	for _, key := range w.rdb.Keys(w.ctx, "oj:*due").Val() {
		for _, member := range w.rdb.ZRange(w.ctx, key, 0, -1).Val() {
			kind, _, _ := strings.Cut(member, ":")
			all = append(all, kind)
		}
	}
	return all
}
