package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"onejob/faults"
	"onejob/jobs"
)

// Queues with names of their own; no provider may take them.
const (
	QueueOperator = "operator"
	QueueWebhooks = "webhooks"
)

// Queue puts tasks on asynq's queues. It is safe for concurrent use.
type Queue struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	timeout   func(provider string) time.Duration
}

// NewQueue returns a Queue over rdb, which it does not close. timeout is how
// long asynq may hold a wake-up of a provider before it gives it to somebody
// else: longer than any call, for that would only waste a delivery.
func NewQueue(rdb redis.UniversalClient, timeout func(provider string) time.Duration) *Queue {
	return &Queue{
		client:    asynq.NewClientFromRedisClient(rdb),
		inspector: asynq.NewInspectorFromRedisClient(rdb),
		timeout:   timeout,
	}
}

// Enqueue puts the first wake-up of an attempt on its provider's queue. That a
// task with its id is there already is no error: it may be our own, its reply
// lost, and if it is not going to run, Rewake finds out.
func (q *Queue) Enqueue(ctx context.Context, w jobs.Wake) error {
	_, err := q.enqueue(ctx, w, 0)
	return err
}

// enqueue tells whether the task is new.
func (q *Queue) enqueue(ctx context.Context, w jobs.Wake, k int) (bool, error) {
	task, err := wakeTask(w, k, q.timeout(w.Provider))
	if err != nil {
		return false, err
	}
	_, err = q.client.EnqueueContext(ctx, task)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return false, nil
	}
	if err == nil {
		err = faults.Point(faults.Enqueued)
	}
	if err != nil {
		return false, fmt.Errorf("enqueuing %s: %w", wakeID(w, k), err)
	}
	return true, nil
}

// Standing is what Rewake found.
type Standing string

// What can be found of an attempt's wake-up.
const (
	Woken   Standing = "woken"   // there was none that leads anywhere; there is now
	Waiting Standing = "waiting" // there is one, waiting its turn or with a worker
	Held    Standing = "held"    // an operator archived it
)

// mostDead bounds how many dead ids of one attempt are stepped over.
const mostDead = 20

// Rewake sees to it that an attempt nobody has claimed has a wake-up that will
// be delivered. A conflict of ids says only that a record exists, so it looks
// what that is: a task that waits is left alone, one an operator archived is a
// hold, and beside one that leads nowhere another is put.
func (q *Queue) Rewake(ctx context.Context, w jobs.Wake) (Standing, error) {
	for k := 0; k <= mostDead; k++ {
		fresh, err := q.enqueue(ctx, w, k)
		if err != nil {
			return "", err
		}
		if fresh {
			return Woken, nil
		}
		standing, err := q.standing(w.Provider, wakeID(w, k))
		if err != nil || standing != "" {
			return standing, err
		}
	}
	return "", fmt.Errorf("attempt %s has %d wake-ups that lead nowhere", wakeID(w, 0), mostDead)
}

// standing looks at one task; empty: it leads nowhere.
func (q *Queue) standing(queue, id string) (Standing, error) {
	info, err := q.inspector.GetTaskInfo(queue, id)
	switch {
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking at task %s: %w", id, err)
	}
	switch info.State {
	case asynq.TaskStatePending, asynq.TaskStateScheduled, asynq.TaskStateRetry:
		return Waiting, nil
	case asynq.TaskStateActive:
		if info.IsOrphaned {
			return "", nil
		}
		return Waiting, nil
	case asynq.TaskStateArchived:
		return Held, nil
	default: // completed, aggregating: nobody will deliver it
		return "", nil
	}
}
