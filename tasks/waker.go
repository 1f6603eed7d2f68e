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
	ready  map[string][]*placing // by provider, for the next batch
	busy   sync.WaitGroup        // batches
	closed bool
}

// NewWaker returns a Waker over queue.
func NewWaker(queue *Queue, log *slog.Logger) *Waker {
	return &Waker{queue: queue, log: log, timers: map[*time.Timer]struct{}{}, ready: map[string][]*placing{}}
}

// Wake enqueues the attempt's wake-up, now or when its wait is over. It does not wait
// for the queue.
func (k *Waker) Wake(ctx context.Context, w jobs.Wake) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	if w.In <= 0 {
		k.add(ctx, w)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(w.In, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.timers, timer) // set by then: this waits for Wake to return
		if !k.closed {
			k.add(ctx, w)
		}
	})
	k.timers[timer] = struct{}{}
}

// mostReady bounds what waits for a batch while the queue is away.
const mostReady = 10_000

// add puts a wake-up into the provider's next batch, which begins when the one under
// way has ended: at once if there is none. k.mu is held.
func (k *Waker) add(ctx context.Context, w jobs.Wake) {
	ready, running := k.ready[w.Provider]
	if len(ready) >= mostReady {
		return // it is due in the store
	}
	k.ready[w.Provider] = append(ready, k.queue.prepare(ctx, w))
	if !running {
		k.busy.Go(func() { k.place(w.Provider) })
	}
}

// place places a provider's batches until nothing is left of them.
func (k *Waker) place(provider string) {
	for {
		batch := k.next(provider)
		if len(batch) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), enqueueTime)
		k.queue.placeAll(ctx, provider, batch)
		cancel()
		for _, p := range batch {
			if p.err != nil {
				k.log.Warn("wake-up not queued; the sweeper will wake it",
					"job", p.wake.JobID, "attempt", p.wake.Attempt, "provider", provider, "error", p.err)
			}
		}
	}
}

// mostInBatch keeps a script short: others wait for it.
const mostInBatch = 100

func (k *Waker) next(provider string) []*placing {
	k.mu.Lock()
	defer k.mu.Unlock()
	ready := k.ready[provider]
	if len(ready) == 0 {
		delete(k.ready, provider)
		return nil
	}
	n := min(len(ready), mostInBatch)
	k.ready[provider] = ready[n:]
	return ready[:n]
}

// Close drops what is to be woken later and waits for what is being woken.
func (k *Waker) Close() {
	k.mu.Lock()
	k.closed = true
	for timer := range k.timers {
		timer.Stop()
		delete(k.timers, timer)
	}
	k.mu.Unlock()
	k.busy.Wait()
}
