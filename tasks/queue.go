package tasks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"onejob/faults"
	"onejob/jobs"
	"onejob/tracing"
)

// Queues with names of their own; no provider may take them.
const (
	QueueOperator = "operator"
	QueueWebhooks = "webhooks"
)

// Queue puts tasks on asynq's queues. It is safe for concurrent use.
type Queue struct {
	rdb       redis.UniversalClient
	inspector *asynq.Inspector
	timeout   func(provider string) time.Duration
	tracer    tracing.Tracer

	window func(provider string) int // nil: nothing is parked
	shares []any                     // of owners: hash, share, hash, share, …

	mu     sync.Mutex
	client *asynq.Client
	made   time.Time         // client
	depths map[string]*depth // of providers' queues
}

// NewQueue returns a Queue over rdb, which it does not close. timeout is how
// long asynq may hold a wake-up of a provider before it gives it to somebody
// else: longer than any call, for that would only waste a delivery.
func NewQueue(rdb redis.UniversalClient, timeout func(provider string) time.Duration, options ...QueueOption) *Queue {
	q := &Queue{rdb: rdb, inspector: asynq.NewInspectorFromRedisClient(rdb), timeout: timeout}
	for _, option := range options {
		option(q)
	}
	return q
}

// clientTime is how long an asynq client is used. It announces each queue once
// and never again, so that a queue an operator deleted would stay hidden from him
// for as long as the client lives.
const clientTime = time.Minute

// enqueuer is an asynq client; fresh asks for one that announces its queues anew.
// There is nothing to close: the connection is ours.
func (q *Queue) enqueuer(fresh bool) *asynq.Client {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.client == nil || fresh || time.Since(q.made) > clientTime {
		q.client, q.made = asynq.NewClientFromRedisClient(q.rdb), time.Now()
	}
	return q.client
}

// Enqueue puts the first wake-up of an attempt on its provider's queue, or into its
// owner's line. That a
// task with its id is there already is no error: it may be our own, its reply
// lost, and if it is not going to run, Rewake finds out.
func (q *Queue) Enqueue(ctx context.Context, w jobs.Wake) error {
	p := q.prepare(ctx, w)
	q.placeAll(ctx, w.Provider, []*placing{p})
	return p.err
}

// enqueue puts the k-th wake-up on the queue, whoever waits: queued or taken.
func (q *Queue) enqueue(ctx context.Context, w jobs.Wake, k int) (placed, error) {
	return q.enqueueWith(ctx, w, k, q.headers(ctx))
}

func (q *Queue) enqueueWith(ctx context.Context, w jobs.Wake, k int, headers map[string]string) (placed, error) {
	task, err := wakeTask(w, k, q.timeout(w.Provider), headers)
	if err != nil {
		return "", err
	}
	_, err = q.enqueuer(false).EnqueueContext(ctx, task)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return taken, nil
	}
	if err == nil {
		err = faults.Point(faults.Enqueued)
	}
	if err != nil {
		return "", fmt.Errorf("enqueuing %s: %w", wakeID(w, k), err)
	}
	return queued, nil
}

// Standing is what Rewake found.
type Standing string

// What can be found of an attempt's wake-up.
const (
	Woken   Standing = "woken"   // there was none that leads anywhere; there is now
	Waiting Standing = "waiting" // there is one, waiting its turn, parked or with a worker
	Held    Standing = "held"    // an operator archived it
)

// mostDead bounds how many dead ids of one attempt are stepped over.
const mostDead = 20

// Rewake sees to it that an attempt nobody has claimed has a wake-up that will
// be delivered. A conflict of ids says only that a record exists, so it looks
// what that is: a task that waits is left alone, one an operator archived is a
// hold, and beside one that leads nowhere another is put. One that finds no room is
// parked like any other, or those who were woken again would overtake the rest.
func (q *Queue) Rewake(ctx context.Context, w jobs.Wake) (Standing, error) {
	return q.rewake(ctx, w, q.place)
}

func (q *Queue) rewake(ctx context.Context, w jobs.Wake, place func(context.Context, jobs.Wake, int) (placed, error)) (Standing, error) {
	for k := 0; k <= mostDead; k++ {
		word, err := place(ctx, w, k)
		switch {
		case err != nil:
			return "", err
		case word == queued, word == parked:
			return Woken, nil
		case word == waiting:
			return Waiting, nil
		}
		standing, err := q.standing(ctx, w, k)
		if err != nil || standing != "" {
			return standing, err
		}
	}
	return "", fmt.Errorf("attempt %s has %d wake-ups that lead nowhere", wakeID(w, 0), mostDead)
}

// standing looks at one task; empty: it leads nowhere.
//
// A task that is with a worker is claimed at once. So one that still is there at
// a later look, when the attempt is not claimed, was with a worker that died, or
// was never given to anybody (its delivery was lost on the way). asynq itself
// would find out after minutes, or never if its lease entry is gone too.
func (q *Queue) standing(ctx context.Context, w jobs.Wake, k int) (Standing, error) {
	info, err := q.inspector.GetTaskInfo(w.Provider, wakeID(w, k))
	if errors.Is(err, asynq.ErrQueueNotFound) {
		// Its tasks are there, but the queue was deleted and is hidden since.
		q.enqueuer(true)
		if _, err = q.enqueue(ctx, w, k); err == nil {
			info, err = q.inspector.GetTaskInfo(w.Provider, wakeID(w, k))
		}
	}
	switch {
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking at task %s: %w", wakeID(w, k), err)
	}
	switch info.State {
	case asynq.TaskStatePending, asynq.TaskStateScheduled, asynq.TaskStateRetry:
		return Waiting, nil
	case asynq.TaskStateActive:
		if w.Tries > 1 {
			return "", nil
		}
		return Waiting, nil
	case asynq.TaskStateArchived:
		return Held, nil
	default: // completed, aggregating: nobody will deliver it
		return "", nil
	}
}

// enqueueAll puts what was taken out of the lines on the queue.
func (q *Queue) enqueueAll(ctx context.Context, wakes []jobs.Wake) error {
	var group errgroup.Group
	group.SetLimit(placeAtOnce)
	for _, w := range wakes {
		group.Go(func() error {
			_, err := q.rewake(ctx, w, q.enqueue)
			return err
		})
	}
	return group.Wait() //nolint:wrapcheck // errors of our own
}
