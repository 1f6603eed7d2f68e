// Package handlers is what a worker does with the tasks it is given: it claims
// the attempt, makes the one call, and reports how it ended.
//
// It never calls a provider unless this very delivery made the claim, and only
// while the claim's lease holds (I2). So no redelivery, whatever its cause,
// repeats a call.
package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"onejob/faults"
	"onejob/jobs"
	"onejob/providers"
	"onejob/tasks"
	"onejob/tracing"
)

// Provider is a configured provider as a worker uses it.
type Provider struct {
	providers.Provider
	Name     string
	Timeout  time.Duration // of silence
	Deadline time.Duration // until which a call is listened to
}

// Waker wakes attempts; package tasks has it.
type Waker interface {
	Wake(ctx context.Context, w jobs.Wake)
}

// Options are what a Worker is made of.
type Options struct {
	Store     *jobs.Store
	Waker     Waker
	Providers map[string]Provider
	// Policy is the plan of a route; nil when the route is not in the
	// configuration any more.
	Policy jobs.PolicyFunc
	// Prepare makes of a job's input and params what is sent to a provider, by the
	// contract of its route. An error is the caller's: the input does not fit.
	// Defaults to sending them as they are.
	Prepare func(route, provider string, input, params json.RawMessage) (json.RawMessage, json.RawMessage, error)
	// Judge holds what came back against the output rules of the route. Defaults to
	// taking everything.
	Judge func(route string, o providers.Outcome) providers.Outcome
	// Remind tells what to be reminded of when an attempt becomes unknown.
	Remind func(route, provider string) jobs.Reminders
	// Callback makes the URL at which a provider may report an attempt's end;
	// empty for one that does not.
	Callback func(ctx context.Context, provider, jobID string, attempt int) (string, error)
	// Beat is the pause between two beats of a lease. Defaults to 5 s.
	Beat time.Duration
	Log  *slog.Logger
	// Tracer makes a span of every attempt and of its call. Its zero value makes none;
	// then the trace context the job was submitted with goes to the provider.
	Tracer tracing.Tracer
	// Observe is told what happens. Its zero value tells nobody.
	Observe Observer
}

// Worker makes calls. It keeps count of those in flight itself, because asynq
// does not wait for a handler it has given up on.
type Worker struct {
	options Options
	name    string
	stop    chan struct{} // closed when nothing may be claimed any more
	stopped sync.Once

	mu    sync.Mutex
	calls map[*call]struct{}
	idle  chan struct{} // closed while no call is in flight
}

// NewWorker returns a Worker, which works until Stop; Drain waits for its calls.
func NewWorker(o Options) *Worker {
	if o.Beat == 0 {
		o.Beat = 5 * time.Second
	}
	if o.Prepare == nil {
		o.Prepare = func(_, _ string, input, params json.RawMessage) (json.RawMessage, json.RawMessage, error) {
			return input, params, nil
		}
	}
	if o.Judge == nil {
		o.Judge = func(_ string, outcome providers.Outcome) providers.Outcome { return outcome }
	}
	if o.Callback == nil {
		o.Callback = func(context.Context, string, string, int) (string, error) { return "", nil }
	}
	if o.Remind == nil {
		o.Remind = func(string, string) jobs.Reminders { return jobs.Reminders{} }
	}
	o.Observe = o.Observe.withDefaults()
	host, _ := os.Hostname()
	w := &Worker{
		options: o,
		name:    fmt.Sprintf("worker:%s:%d", host, os.Getpid()),
		stop:    make(chan struct{}),
		calls:   map[*call]struct{}{},
		idle:    make(chan struct{}),
	}
	close(w.idle)
	return w
}

// Handle handles a wake-up. Once it could be read it returns nil: a call is never
// repeated by the queue, and what is overdue the sweeper finds. What a newer onejob
// has made is left on the queue for its worker (tasks.ForNewer).
func (w *Worker) Handle(ctx context.Context, task *asynq.Task) error {
	wake, err := tasks.ReadWake(task)
	if err != nil {
		return err
	}
	queue, _ := asynq.GetQueueName(ctx)
	provider, ok := w.options.Providers[queue]
	if !ok {
		return fmt.Errorf("queue %q is no provider of this worker: %w", queue, asynq.SkipRetry)
	}
	if err := faults.Point(faults.Delivered); err != nil {
		return err
	}
	// asynq's context never cancels a call: a time-out is no failure.
	ctx = tracing.FromHeaders(context.WithoutCancel(ctx), task.Headers())
	if err := w.attempt(ctx, provider, wake); err != nil {
		return err
	}
	return faults.Point(faults.Done)
}

// attempt claims and, having claimed, calls and reports. Its only error is that a
// newer onejob wrote the job.
func (w *Worker) attempt(ctx context.Context, provider Provider, wake tasks.Wake) error {
	c := newCall(w, provider, wake)
	defer c.cancel()
	if !w.enter(c) {
		return nil
	}
	defer w.exit(c)
	err := c.take(ctx)
	if err == nil {
		c.run(c.traced)
	}
	if tasks.ForNewer(err) {
		return err
	}
	return nil
}

// enter counts a call in; false when the worker is stopping.
func (w *Worker) enter(c *call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.stop:
		return false
	default:
	}
	if len(w.calls) == 0 {
		w.idle = make(chan struct{})
	}
	w.calls[c] = struct{}{}
	return true
}

func (w *Worker) exit(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, c)
	if len(w.calls) == 0 {
		close(w.idle)
	}
}

func (w *Worker) inFlight() []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := make([]*call, 0, len(w.calls))
	for c := range w.calls {
		calls = append(calls, c)
	}
	return calls
}

// InFlight is the number of calls that are being made or listened to.
func (w *Worker) InFlight() int { return len(w.inFlight()) }

// Stop claims nothing from now on.
func (w *Worker) Stop() { w.stopped.Do(func() { close(w.stop) }) }

// Drain lets the calls in flight finish until ctx ends. What is left then is
// marked unknown (worker_stopped), for nobody will be listening; then the calls
// are let go.
func (w *Worker) Drain(ctx context.Context) error {
	w.Stop()
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	return w.abandon()
}

// abandonTime bounds the marking of what a drain left.
const abandonTime = 5 * time.Second

func (w *Worker) abandon() error {
	ctx, cancel := context.WithTimeout(context.Background(), abandonTime)
	defer cancel()
	var wg sync.WaitGroup
	left := w.inFlight()
	failures := make([]error, len(left))
	for i, c := range left {
		wg.Go(func() { failures[i] = c.abandon(ctx) })
	}
	wg.Wait()
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	return errors.Join(failures...)
}
