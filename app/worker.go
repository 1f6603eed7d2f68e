package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"onejob/contracts"
	"onejob/handlers"
	"onejob/recovery"
	"onejob/tasks"
)

// Settings of asynq's servers. Its pick-up latency is its polling.
const (
	checkEvery   = 20 * time.Millisecond // of a server alone; of several each takes twice the time
	checkTickets = time.Second           // a person runs them, and can wait for a second
	// checkWebhooks adds little to the second in which the sweeper finds a delivery.
	checkWebhooks = 250 * time.Millisecond
	forwardEvery  = time.Second
	// retryAfter keeps asynq from giving a task of the same id out again so soon
	// that it stops the lease of a healthy run.
	retryAfter = 10 * time.Second
	// ticketConcurrency is how many tickets run at once; they only ask the store.
	ticketConcurrency = 4
)

// workers are the part of the process that makes calls: a server of its own for
// every provider, so that one that hangs holds up nobody else, one for tickets,
// and the sweeper.
type workers struct {
	app     *App
	worker  *handlers.Worker
	servers []*asynq.Server
	sweeper *recovery.Sweeper
	hooks   *handlers.Webhooks
	pump    *tasks.Pump
	left    tasks.Left
	// reverifier verifies contracts from time to time; nil when only people do.
	reverifier *contracts.Reverifier
	cancel     context.CancelFunc
	swept      sync.WaitGroup
}

func (a *App) newWorkers() *workers {
	built := a.built
	w := &workers{app: a, hooks: a.newWebhooks(), pump: tasks.NewPump(a.queue, providerNames(a.cfg), a.log)}
	a.countWork()
	asked := asked(a.cfg, built)
	remind := reminders(a.cfg, asked)
	w.worker = handlers.NewWorker(handlers.Options{
		Store: a.store, Waker: a.waker, Providers: built, Policy: a.policy, Prepare: a.rules.prepare, Judge: a.rules.judge, Remind: remind, Beat: a.cfg.Beat,
		Callback: a.callbackURL, Log: a.log, Tracer: a.tracer, Observe: a.observeCalls(),
	})
	w.sweeper = recovery.NewSweeper(recovery.Options{
		Store: a.store, Queue: a.queue, Remind: remind, Beat: a.cfg.Beat, Log: a.log, Observe: a.observeSweeps(),
		Reconciler: &recovery.Reconciler{
			Store: a.store, Waker: a.waker, Providers: asked, Policy: a.policy, Log: a.log,
			Prepare: a.rules.prepare, Judge: a.rules.judge, Tracer: a.tracer, Observe: a.observeAnswers(),
		},
	})
	if a.cfg.Certificates.Reverify > 0 {
		w.reverifier = &contracts.Reverifier{
			Book: a.rules.book, Store: contracts.NewStore(a.rdb), Every: a.cfg.Certificates.Reverify, Runs: a.cfg.Certificates.Runs,
			Verifier: contracts.Verifier{Lifetime: a.cfg.Certificates.Lifetime}, Log: a.log,
		}
	}
	return w
}

func (w *workers) start() error {
	for _, name := range providerNames(w.app.cfg) {
		handler := w.pump.Around(name, asynq.HandlerFunc(w.worker.Handle))
		servers := shares(w.app.cfg.Providers[name].Concurrency)
		check := checkEvery * time.Duration(min(len(servers), 2))
		for _, concurrency := range servers {
			if err := w.serve(name, concurrency, check, handler); err != nil {
				return err
			}
		}
	}
	tickets := handlers.Tickets{Store: w.app.store, Waker: w.app.waker, Log: w.app.log, Observe: w.app.metrics.calls.ticketRun}
	if err := w.serve(tasks.QueueOperator, ticketConcurrency, checkTickets, asynq.HandlerFunc(tickets.Handle)); err != nil {
		return err
	}
	hooks := w.app.cfg.Webhooks.Concurrency
	if err := w.serve(tasks.QueueWebhooks, hooks, checkWebhooks, asynq.HandlerFunc(w.hooks.Handle)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.swept.Go(func() { w.sweeper.Run(ctx) })
	w.swept.Go(func() { w.pump.Run(ctx) })
	w.swept.Go(func() { w.tidy(ctx, w.app.queue) })
	if w.reverifier != nil {
		w.swept.Go(func() { _ = w.reverifier.Run(ctx) }) // its only error is a missing Every
	}
	return nil
}

// oneServer is how many calls one asynq server hands out. It takes tasks one after the
// other, a round trip each, so that a provider with many calls at a time would wait for
// its tasks; several servers take them beside each other. Each has a connection of its own
// for cancellations, so beyond mostServers they hand out more. The more there are, the
// faster jobs end and the slower are submissions beside them: docs/performance.md.
const (
	oneServer   = 6
	mostServers = 16
)

// shares spreads a provider's concurrency over as few servers as will do.
func shares(concurrency int) []int {
	servers := min((concurrency+oneServer-1)/oneServer, mostServers)
	each := make([]int, servers)
	for i := range each {
		each[i] = concurrency / servers
		if i < concurrency%servers {
			each[i]++
		}
	}
	return each
}

func (w *workers) serve(queue string, concurrency int, check time.Duration, handler asynq.Handler) error {
	server := asynq.NewServerFromRedisClient(w.app.scripts, asynq.Config{
		Concurrency:              concurrency,
		Queues:                   map[string]int{queue: 1},
		TaskCheckInterval:        check,
		DelayedTaskCheckInterval: forwardEvery,
		RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return retryAfter },
		// What is left to a newer worker is not archived however long that takes.
		IsFailure:       func(err error) bool { return !tasks.ForNewer(err) },
		ShutdownTimeout: time.Second, // we have waited for our calls before
		Logger:          queueLog{w.app.log.With("queue", queue)},
		LogLevel:        asynq.WarnLevel,
	})
	if err := server.Start(w.left.Around(w.app.log.With("queue", queue), handler)); err != nil {
		return fmt.Errorf("starting the worker of queue %s: %w", queue, err)
	}
	w.servers = append(w.servers, server)
	return nil
}

// stop claims nothing any more, lets calls finish until ctx ends, marks the rest
// unknown, and goes.
func (w *workers) stop(ctx context.Context) error {
	w.worker.Stop()
	var stopping sync.WaitGroup
	for _, server := range w.servers {
		stopping.Go(server.Stop)
	}
	stopping.Wait()
	if n := w.worker.InFlight(); n > 0 {
		w.app.log.InfoContext(ctx, "draining", "calls", n)
	}
	stopping.Go(func() { w.hooks.Drain(ctx) })
	err := w.worker.Drain(ctx)
	stopping.Wait()
	if w.cancel != nil {
		w.cancel()
	}
	w.swept.Wait()
	for _, server := range w.servers {
		stopping.Go(server.Shutdown)
	}
	stopping.Wait()
	return err
}

// queueLog gives asynq's words to slog.
type queueLog struct{ log *slog.Logger }

func (l queueLog) Debug(args ...any) { l.log.Debug(fmt.Sprint(args...)) }
func (l queueLog) Info(args ...any)  { l.log.Info(fmt.Sprint(args...)) }
func (l queueLog) Warn(args ...any)  { l.log.Warn(fmt.Sprint(args...)) }
func (l queueLog) Error(args ...any) { l.log.Error(fmt.Sprint(args...)) }

// Fatal logs as an error: a queue in trouble is no reason to end the process.
func (l queueLog) Fatal(args ...any) { l.log.Error(fmt.Sprint(args...)) }
