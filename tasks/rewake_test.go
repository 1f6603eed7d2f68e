package tasks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
	"onejob/tasks"
)

const patience = 15 * time.Second

// desk is a queue and what an operator has to hand.
type desk struct {
	t         *testing.T
	ctx       context.Context
	rdb       *redis.Client
	queue     *tasks.Queue
	inspector *asynq.Inspector
	wake      jobs.Wake
	id        string
}

func openDesk(t *testing.T, rdb *redis.Client, key string) *desk {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	wake := jobs.Wake{JobID: jobs.NewID("dev", key), Attempt: 1, Provider: "inkjet-" + key}
	return &desk{
		t: t, ctx: ctx, rdb: rdb, queue: tasks.NewQueue(rdb, func(string) time.Duration { return time.Minute }),
		inspector: asynq.NewInspectorFromRedisClient(rdb), wake: wake, id: jobs.AttemptID(wake.JobID, 1),
	}
}

func (d *desk) enqueue(options ...asynq.Option) {
	d.t.Helper()
	payload, err := json.Marshal(tasks.Wake{JobID: d.wake.JobID, Attempt: 1})
	require.NoError(d.t, err)
	options = append([]asynq.Option{asynq.TaskID(d.id), asynq.Queue(d.wake.Provider)}, options...)
	_, err = asynq.NewClientFromRedisClient(d.rdb).EnqueueContext(d.ctx, asynq.NewTask(tasks.TypeWake, payload, options...))
	require.NoError(d.t, err)
}

// serve runs the queue's tasks through handler until stop.
func (d *desk) serve(handler asynq.HandlerFunc) (stop func()) {
	d.t.Helper()
	server := asynq.NewServerFromRedisClient(d.rdb, asynq.Config{
		Concurrency: 1, Queues: map[string]int{d.wake.Provider: 1}, TaskCheckInterval: 5 * time.Millisecond,
		ShutdownTimeout: 10 * time.Millisecond, LogLevel: asynq.FatalLevel,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return time.Hour },
	})
	require.NoError(d.t, server.Start(handler))
	return server.Shutdown
}

func (d *desk) untilState(state asynq.TaskState) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		info, err := d.inspector.GetTaskInfo(d.wake.Provider, d.id)
		return err == nil && info.State == state
	}, patience, 5*time.Millisecond)
}

// exists tells whether the k-th further wake-up is on the queue.
func (d *desk) exists(k int) bool {
	id := d.id
	if k > 0 {
		id = fmt.Sprintf("%s-w%d", d.id, k)
	}
	_, err := d.inspector.GetTaskInfo(d.wake.Provider, id)
	return err == nil
}

// TestRewake: an id that is taken says only that a record exists. What is waiting
// is left alone, what an operator archived is a hold, and beside what leads
// nowhere another is put (facts: asynq's ErrTaskIDConflict).
func TestRewake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(*desk) (stop func())
		want    tasks.Standing
		further int // number of the wake-up that must be there afterwards
	}{
		"never queued": {func(*desk) func() { return nil }, tasks.Woken, 0},
		"pending":      {func(d *desk) func() { d.enqueue(); return nil }, tasks.Waiting, 0},
		"scheduled":    {func(d *desk) func() { d.enqueue(asynq.ProcessIn(time.Hour)); return nil }, tasks.Waiting, 0},
		"deleted by an operator": {func(d *desk) func() {
			d.enqueue()
			require.NoError(d.t, d.inspector.DeleteTask(d.wake.Provider, d.id))
			return nil
		}, tasks.Woken, 0},
		"archived by an operator": {func(d *desk) func() {
			d.enqueue()
			require.NoError(d.t, d.inspector.ArchiveTask(d.wake.Provider, d.id))
			return nil
		}, tasks.Held, 0},
		"to be retried": {func(d *desk) func() {
			d.enqueue()
			stop := d.serve(func(context.Context, *asynq.Task) error { return context.Canceled })
			d.untilState(asynq.TaskStateRetry)
			stop()
			return nil
		}, tasks.Waiting, 0},
		"completed": {func(d *desk) func() {
			d.enqueue(asynq.Retention(time.Hour))
			stop := d.serve(func(context.Context, *asynq.Task) error { return nil })
			d.untilState(asynq.TaskStateCompleted)
			stop()
			return nil
		}, tasks.Woken, 1},
		"with a worker": {func(d *desk) func() {
			d.enqueue()
			gate := make(chan struct{})
			stop := d.serve(func(context.Context, *asynq.Task) error { <-gate; return nil })
			d.untilState(asynq.TaskStateActive)
			return func() { close(gate); stop() }
		}, tasks.Waiting, 0},
		"with a worker that died, at a later look": {func(d *desk) func() {
			d.enqueue()
			// What is left where the lease entry is gone, too: asynq never gives it out again.
			key := "asynq:{" + d.wake.Provider + "}:"
			require.NoError(d.t, d.rdb.LMove(d.ctx, key+"pending", key+"active", "RIGHT", "LEFT").Err())
			require.NoError(d.t, d.rdb.HSet(d.ctx, key+"t:"+d.id, "state", "active").Err())
			d.wake.Tries = 2
			return nil
		}, tasks.Woken, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				d := openDesk(t, rdb, "k")
				if stop := c.arrange(d); stop != nil {
					defer stop()
				}
				standing, err := d.queue.Rewake(d.ctx, d.wake)
				require.NoError(t, err)
				require.Equal(t, c.want, standing)
				require.True(t, d.exists(c.further), "there is no wake-up")
				require.False(t, d.exists(c.further+1), "there is one too many")
				again, err := d.queue.Rewake(d.ctx, d.wake)
				require.NoError(t, err)
				then := c.want
				if then == tasks.Woken {
					then = tasks.Waiting
				}
				require.Equal(t, then, again)
				require.False(t, d.exists(c.further+1), "there is one too many")
			})
		})
	}
}

// Enqueuing twice is no error: the first reply may have been lost.
func TestEnqueue_Twice(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		d := openDesk(t, rdb, "k")
		require.NoError(t, d.queue.Enqueue(d.ctx, d.wake))
		require.NoError(t, d.queue.Enqueue(d.ctx, d.wake))
		pending, err := d.inspector.ListPendingTasks(d.wake.Provider)
		require.NoError(t, err)
		require.Len(t, pending, 1)
		require.JSONEq(t, fmt.Sprintf(`{"job":%q,"attempt":1}`, d.wake.JobID), string(pending[0].Payload), "ids only")
		require.GreaterOrEqual(t, pending[0].MaxRetry, 20, "asynq archives what has no retries left, even if it never ran")
	})
}

func TestEachWake_SeesAllThatWait(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		d := openDesk(t, rdb, "k")
		seen := map[string]int{}
		count := func(id string, w tasks.Wake) error {
			require.Equal(t, d.wake.JobID, w.JobID)
			seen[id]++
			return nil
		}
		require.NoError(t, d.queue.EachWake(d.wake.Provider, count), "a queue that was never used")
		for i := range 3 {
			d.id = fmt.Sprint("t", i)
			d.enqueue()
		}
		require.NoError(t, d.inspector.ArchiveTask(d.wake.Provider, "t2"))
		require.NoError(t, d.queue.EachWake(d.wake.Provider, count))
		require.Equal(t, map[string]int{"t0": 1, "t1": 1, "t2": 1}, seen)
		require.NoError(t, d.queue.Delete(d.wake.Provider, "t0"))
		require.NoError(t, d.queue.Delete(d.wake.Provider, "t0"), "gone is no error")
	})
}
