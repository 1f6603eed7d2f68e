package tasks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"onejob/jobs"
)

// enqueueTime bounds one enqueue; what is not queued by then the sweeper wakes.
const enqueueTime = 2 * time.Second

// Waker puts wake-ups on the queue, those of later as well. What it fails to
// wake, or forgets when the process ends, is in the store's due set and will be
// woken from there: its errors are logged and nobody waits for it.
type Waker struct {
	queue *Queue
	log   *slog.Logger

	mu     sync.Mutex
	timers map[*time.Timer]struct{}
	busy   sync.WaitGroup
	closed bool
}

// NewWaker returns a Waker over queue.
func NewWaker(queue *Queue, log *slog.Logger) *Waker {
	return &Waker{queue: queue, log: log, timers: map[*time.Timer]struct{}{}}
}

// Wake enqueues the attempt's wake-up, now or when its wait is over.
func (k *Waker) Wake(ctx context.Context, w jobs.Wake) {
	if w.In <= 0 {
		k.enqueue(ctx, w)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	var timer *time.Timer
	ready := make(chan struct{})
	k.busy.Add(1)
	timer = time.AfterFunc(w.In, func() {
		defer k.busy.Done()
		<-ready
		k.mu.Lock()
		delete(k.timers, timer)
		k.mu.Unlock()
		k.enqueue(ctx, w) // which outlives its cause; what it knows of a trace is kept
	})
	k.timers[timer] = struct{}{}
	close(ready)
}

func (k *Waker) enqueue(ctx context.Context, w jobs.Wake) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enqueueTime)
	defer cancel()
	if err := k.queue.Enqueue(ctx, w); err != nil {
		k.log.WarnContext(ctx, "wake-up not queued; the sweeper will wake it",
			"job", w.JobID, "attempt", w.Attempt, "provider", w.Provider, "error", err)
	}
}

// Close drops what is to be woken later and waits for what is being woken.
func (k *Waker) Close() {
	k.mu.Lock()
	k.closed = true
	for timer := range k.timers {
		if timer.Stop() {
			k.busy.Done()
		}
		delete(k.timers, timer)
	}
	k.mu.Unlock()
	k.busy.Wait()
}
