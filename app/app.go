// Package app wires the parts into a process: an API, workers, or both. It is
// stable for users who build a binary of their own with provider types of their
// own (WithProvider).
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/api"
	"onejob/api/openai"
	"onejob/auth"
	"onejob/batch"
	"onejob/config"
	"onejob/contracts"
	"onejob/dashboard"
	"onejob/dashboard/payload"
	"onejob/handlers"
	"onejob/jobs"
	"onejob/providers"
	"onejob/recovery"
	"onejob/tasks"
	"onejob/tracing"
)

// App is one process of onejob. New, then Run, or Start and Close.
type App struct {
	cfg                               *config.Config
	log                               *slog.Logger
	types                             map[string]providers.Factory
	serveAPI, work, embedded, devKeys bool

	server     *embedded
	redis      connection
	rdb        redis.UniversalClient
	scripts    *batch.Client
	store      *jobs.Store
	keys       *auth.Keys
	queue      *tasks.Queue
	waker      *tasks.Waker
	metrics    *metrics
	durability Durability
	tracer     tracing.Tracer
	exporter   *tracing.Exporter // nil: no spans are sent
	clockwork  *jobs.Clockwork
	look       lookout
	schema     deploymentSchema
	pages      *dashboard.Pages
	redact     *payload.Redactor
	built      map[string]handlers.Provider
	rules      rules
	policy     jobs.PolicyFunc
	workers    *workers
	version    string
	breakers   map[string]*providers.Breaker
	tallies    tallies
	presence   presence
	admin      *admin // nil without server.admin_addr
	api        *api.Server
	http       *http.Server
	listener   net.Listener
	served     chan error
}

// Option says what an App is made of.
type Option func(*App)

// WithAPI makes the process serve the HTTP API.
func WithAPI() Option { return func(a *App) { a.serveAPI = true } }

// WithWorker makes the process work for the configured providers.
func WithWorker() Option { return func(a *App) { a.work = true } }

// WithEmbeddedRedis starts a Redis inside the process instead of using the
// configured one. Memory is all it has: everything is gone with the process.
func WithEmbeddedRedis() Option { return func(a *App) { a.embedded = true } }

// WithDevKeys turns the fixed keys on; then only loopback addresses are served.
func WithDevKeys() Option { return func(a *App) { a.devKeys = true } }

// WithVersion says which version of the program this is, for metrics and the roster.
// Defaults to nothing.
func WithVersion(version string) Option { return func(a *App) { a.version = version } }

// WithLog sets where the process logs. Defaults, as nil does, to nowhere.
func WithLog(log *slog.Logger) Option {
	return func(a *App) {
		if log != nil {
			a.log = log
		}
	}
}

// WithProvider adds a provider type for the configuration to use.
func WithProvider(name string, factory providers.Factory) Option {
	return func(a *App) { a.types[name] = factory }
}

// New returns a process for cfg, which must have been validated. Nothing is
// started yet.
func New(cfg *config.Config, opts ...Option) *App {
	a := &App{
		cfg: cfg, log: slog.New(slog.DiscardHandler), types: builtIn(),
		metrics: newMetrics(), served: make(chan error, 2), breakers: map[string]*providers.Breaker{}, tallies: tallies{},
	}
	for _, opt := range opts {
		opt(a)
	}
	return a
}

// Addr is where the process listens, once started.
func (a *App) Addr() string { return a.listener.Addr().String() }

// Durability is the class of the store, once started.
func (a *App) Durability() Durability { return a.durability }

// Run starts the process and serves until ctx ends, then drains and closes.
func (a *App) Run(ctx context.Context) error {
	if err := a.Start(ctx); err != nil {
		return errors.Join(err, a.Close())
	}
	return a.Wait(ctx)
}

// Wait serves until ctx ends, or the listener fails; then it drains and closes.
func (a *App) Wait(ctx context.Context) error {
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-a.served:
	}
	return errors.Join(failed, a.Close())
}

// Start connects, checks the store, and begins to serve and work. After an
// error, Close what was begun.
func (a *App) Start(ctx context.Context) error {
	if err := a.connect(ctx); err != nil {
		return err
	}
	if err := a.trace(ctx); err != nil {
		return err
	}
	timeouts := a.cfg.Providers
	drain := a.cfg.Drain
	a.store = jobs.NewStore(a.rdb, jobs.Options{
		Scripts: a.scripts,
		KeepJob: a.cfg.Retention.Job, KeepKey: a.cfg.Retention.Key, Lease: a.cfg.Lease,
		WaitReplicas: a.cfg.Redis.WaitReplicas, Clockwork: a.clockwork,
	})
	// Longer than any call: asynq giving a call up would not end it.
	a.queue = tasks.NewQueue(a.scripts, func(provider string) time.Duration {
		return timeouts[provider].Deadline + drain + time.Minute
	}, tasks.WithTracer(a.tracer), a.fairly())
	a.waker = tasks.NewWaker(a.queue, a.log)
	if err := a.loadRules(); err != nil {
		return err
	}
	if err := a.listen(ctx); err != nil {
		return err
	}
	if a.work {
		a.workers = a.newWorkers()
		if err := a.workers.start(); err != nil {
			return err
		}
	}
	a.metrics.about(a.version, string(a.kind()), a.durability)
	a.metrics.registry.MustRegister(a.census(), &backlogs{queue: a.queue, providers: providerNames(a.cfg)})
	a.serve()
	a.appear()
	a.followSchema(ctx)
	a.look.start(a.rdb, a.followSchema, func(ctx context.Context) {
		a.certificateNotes(ctx)
		a.metrics.webhooks.look(ctx, a.store)
	})
	return nil
}

// loadRules builds the providers and reads the contracts.
func (a *App) loadRules() (err error) {
	if a.built, err = buildProviders(a.cfg, a.types, a.guarded(newPauses(a.rdb))); err != nil {
		return err
	}
	a.rules.cfg = a.cfg
	if a.rules.book, err = book(a.cfg, contracts.NewStore(a.rdb), a.built); err != nil {
		return err
	}
	a.policy = a.rules.policy(policies(a.cfg))
	if a.redact, err = payload.NewRedactor(a.cfg.Dashboard.Redact); err != nil {
		return fmt.Errorf("dashboard.redact: %w", err)
	}
	return nil
}

// connect opens the store and checks that it keeps the promises.
func (a *App) connect(ctx context.Context) error {
	target := a.cfg.Redis
	if a.embedded {
		server, err := embed()
		if err != nil {
			return err
		}
		a.server = server
		target.URL = "redis://" + server.Addr() + "/0"
	}
	a.redis = connection{target}
	var onConnect func(context.Context, *redis.Conn) error
	if !a.embedded { // memory of this very process has no past to go back to
		a.clockwork = jobs.NewClockwork(a.rewound)
		onConnect = a.clockwork.OnConnect
	}
	rdb, err := a.redis.watched(onConnect)
	if err != nil {
		return err
	}
	a.rdb = rdb
	if a.scripts, err = batch.New(rdb, a.metrics.trips); err != nil {
		return err
	}
	if a.embedded {
		a.durability = Memory
		return nil
	}
	if a.durability, err = checkStore(ctx, rdb, target); err != nil {
		return err
	}
	if a.durability != Fsync {
		a.log.WarnContext(ctx, "this Redis can lose acknowledged jobs when it crashes; appendonly yes with appendfsync always keeps them",
			"durability", a.durability)
	}
	return nil
}

// listen opens the port: of the API, or of a worker's probes.
func (a *App) listen(ctx context.Context) error {
	var options []auth.Option
	if a.devKeys {
		options = append(options, auth.DevKeys())
	}
	a.keys = auth.New(a.rdb, options...)
	if a.serveAPI {
		anyKeys, err := a.keys.Any(ctx)
		if err != nil {
			return fmt.Errorf("looking for API keys: %w", err)
		}
		if err := auth.CheckAddr(a.cfg.Server.Addr, a.devKeys, anyKeys); err != nil {
			return err
		}
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", a.cfg.Server.Addr)
	if err != nil {
		return fmt.Errorf("listening at %s: %w", a.cfg.Server.Addr, err)
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return errors.Join(fmt.Errorf("listening at %s gave a %T", a.cfg.Server.Addr, listener), listener.Close())
	}
	a.listener = boundListener(tcp, a.cfg.Server.MaxConnections)
	return a.listenAdmin(ctx)
}

// onLoopback tells whether only this machine reaches the listener. The address that
// is listened at decides, never a peer's: behind a proxy every peer is local.
func (a *App) onLoopback() bool {
	tcp, ok := a.listener.Addr().(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

func (a *App) serve() {
	cfg := api.Config{
		Log: a.log, PolicyFor: a.policy, CheckResult: a.rules.checkResult, CheckWebhook: a.checkWebhook, Ready: a.ready, Registry: a.metrics.registry, Routes: a.routes(),
		OpenMetrics: a.onLoopback(), Limits: a.limits(),
		Tracer: a.tracer,
	}
	if a.serveAPI {
		cfg.Reporter = reporter{a.callbacks(), &recovery.Reconciler{
			Store: a.store, Waker: a.waker, Policy: a.policy, Log: a.log, Judge: a.rules.judge,
			Tracer: a.tracer, Observe: a.observeAnswers(),
		}, a.cfg}
		a.api = api.New(cfg, a.store, a.waker, a.keys)
		a.mountPages()
		a.api.Mount(openai.Root, openai.New(a.api, openai.Config{
			Wait: a.cfg.Server.DoorWait, Routes: slices.Collect(maps.Keys(a.cfg.Routes)),
		}))
	} else {
		a.api = api.NewProbes(cfg, a.keys)
	}
	a.serveAdmin()
	a.http = a.api.HTTP(a.cfg.Server.Addr)
	if a.pages != nil {
		a.http.RegisterOnShutdown(a.pages.Stop)
	}
	go func() {
		err := a.http.Serve(a.listener)
		if !errors.Is(err, http.ErrServerClosed) {
			a.served <- fmt.Errorf("serving at %s: %w", a.Addr(), err)
		}
	}()
}

func (a *App) routes() map[string]api.Route {
	routes := make(map[string]api.Route, len(a.cfg.Routes))
	for name, route := range a.cfg.Routes {
		routes[name] = api.Route{Providers: route.Providers, Params: route.Params}
	}
	return routes
}

// probeTime is how long the key of a readiness probe stays.
const probeTime = time.Minute

// ready tells whether the process can do its work: the store answers.
func (a *App) ready(ctx context.Context) api.Readiness {
	r := api.Readiness{Ready: true, Durability: string(a.durability), Notes: a.look.notes(time.Now())}
	r.Notes = append(r.Notes, a.certificateNotes(ctx)...)
	r.Notes = append(r.Notes, a.schema.notes()...)
	// A write, for a full Redis still answers PING.
	if err := a.rdb.Set(ctx, "oj:probe", 1, probeTime).Err(); err != nil {
		r.Ready = false
		r.Reasons = append(r.Reasons, "Redis takes no writes: "+err.Error())
	}
	return r
}

// shutdownTime bounds the end of requests that are being answered.
const shutdownTime = 10 * time.Second

// Close drains and closes, in the order that loses nothing: first no new
// requests and claims, then the calls in flight, then the store.
func (a *App) Close() error {
	var errs []error
	a.presence.draining.Store(true)
	if a.http != nil {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		errs = append(errs, a.http.Shutdown(ctx))
		cancel()
		a.api.Stop()
	} else if a.listener != nil {
		errs = append(errs, a.listener.Close())
	}
	if a.pages != nil {
		errs = append(errs, a.pages.Close())
	}
	a.look.stop()
	if a.workers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), a.cfg.Drain)
		errs = append(errs, a.workers.stop(ctx))
		cancel()
	}
	a.presence.disappear()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	errs = append(errs, a.admin.close(ctx))
	cancel()
	if a.waker != nil {
		a.waker.Close()
	}
	if a.exporter != nil {
		a.exporter.Close()
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.rdb != nil {
		errs = append(errs, a.rdb.Close())
	}
	if a.server != nil {
		a.server.Close()
	}
	return errors.Join(errs...)
}
