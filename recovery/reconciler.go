package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"onejob/jobs"
	"onejob/providers"
	"onejob/tracing"
)

// Provider is a configured provider as it is asked about attempts.
type Provider struct {
	providers.Provider
	Name     string
	Timeout  time.Duration
	Deadline time.Duration
	// Window is for how long after a create a repetition under the same key is
	// deduped; 0: it is not, and nothing is ever repeated.
	Window time.Duration
	// AbsentProves: an attempt it does not know never reached it.
	AbsentProves bool
	// SettlesAfter: so long after the suspicion no answer can come; 0: one always can.
	SettlesAfter time.Duration
}

// Answerable tells whether there is a way to ask about an attempt.
func (p Provider) Answerable() bool {
	_, lookup := p.Provider.(providers.Lookuper)
	return lookup || p.Window > 0
}

// absenceProves tells whether an attempt that the provider does not know, asked at
// now, never reached it: only after the time in which its call could leave, and not
// when the provider has been heard to know it.
func (p Provider) absenceProves(a *jobs.Attempt, now time.Time) bool {
	heard := a.Handle != "" || a.Lookup != nil && a.Lookup.Said == saidRunning
	until := a.Deadline.Go()
	if a.Deadline.IsZero() { // made unknown by a rewound store that does not know its claim
		until = a.UnknownAt.Go().Add(p.Deadline)
	}
	return p.AbsentProves && !heard && now.After(until)
}

// saidRunning is what is noted of a look-up that found the provider at it.
const saidRunning = "running"

// Waker wakes attempts; package tasks has it.
type Waker interface {
	Wake(ctx context.Context, w jobs.Wake)
}

// Reconciler settles unknown attempts by asking their providers: found is
// finalized, refused is failed, both under the attempt's own fence; absent proves
// nothing and an outage changes nothing (design §5).
type Reconciler struct {
	Store     *jobs.Store
	Waker     Waker
	Providers map[string]Provider
	Policy    jobs.PolicyFunc
	// Prepare and Judge are those of the workers (package handlers).
	Prepare func(route, provider string, input, params json.RawMessage) (json.RawMessage, json.RawMessage, error)
	Judge   func(route string, o providers.Outcome) providers.Outcome
	Log     *slog.Logger
	// Observe is told what happens. Its zero value tells nobody.
	Observe Observer
	// Tracer makes a span of every question, in the trace of its job. Its zero value
	// makes none.
	Tracer tracing.Tracer

	asking sync.WaitGroup
	mu     sync.Mutex
	turns  map[string]chan struct{} // by kind and provider, so that one that hangs holds up no other
}

// reconciler is the actor of what was learnt by asking.
const reconciler = "reconciler"

// Limits of asking.
const (
	askAtOnce = 16
	askTime   = 30 * time.Second
	noTurn    = time.Second // until an entry that found no turn comes up again
)

// start runs ask in the background, at most askAtOnce at a time of one provider and
// kind: a provider that does not answer must hold up neither the sweep nor the
// others. Without a free turn the entry comes up again soon.
func (r *Reconciler) start(ctx context.Context, d jobs.Due, ask func(context.Context, jobs.Due) error) error {
	turns := r.turnsOf(d.Kind + " " + d.Provider)
	select {
	case turns <- struct{}{}:
	default:
		return r.Store.Postpone(ctx, d, noTurn)
	}
	r.asking.Go(func() {
		defer func() { <-turns }()
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		if err := ask(ctx, d); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "asking the provider failed; it is asked again",
				"kind", d.Kind, "job", d.JobID, "attempt", d.Attempt(), "provider", d.Provider, "error", err)
		}
	})
	return nil
}

func (r *Reconciler) turnsOf(name string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turns == nil {
		r.turns = map[string]chan struct{}{}
	}
	if r.turns[name] == nil {
		r.turns[name] = make(chan struct{}, askAtOnce)
	}
	return r.turns[name]
}

// Wait waits for the questions under way.
func (r *Reconciler) Wait() { r.asking.Wait() }

// lookup asks what became of an unknown attempt.
func (r *Reconciler) lookup(ctx context.Context, d jobs.Due) error {
	provider, ok := r.Providers[d.Provider]
	if !ok {
		return nil // a worker with a newer configuration may know it
	}
	job, attempt, err := r.read(ctx, d)
	if err != nil {
		return err
	}
	if attempt == nil || attempt.State != jobs.AttemptUnknown {
		return r.Store.Forget(ctx, d)
	}
	// An attempt that a rewound store made unknown was given no reminder to settle
	// it: the script that did it knows no configuration.
	now, err := r.Store.Now(ctx)
	if err != nil {
		return err
	}
	if provider.SettlesAfter > 0 && now.Sub(attempt.UnknownAt.Go()) > provider.SettlesAfter {
		return r.settle(ctx, d)
	}
	if !provider.Answerable() {
		return nil
	}
	ctx, end := r.trace(ctx, tracing.SpanLookup, job, attempt)
	outcome := r.ask(ctx, provider, job, attempt)
	defer func() { end(outcome) }()
	if outcome.Reason == providers.ReasonLookupAbsent && provider.absenceProves(attempt, now) {
		outcome = providers.NeverArrived()
	}
	r.Observe.withDefaults().Asked(provider.Name, said(outcome))
	_, err = r.apply(ctx, job, attempt, outcome, reconciler)
	return err
}

// read gives the job and attempt of an entry; nil when they are not there.
func (r *Reconciler) read(ctx context.Context, d jobs.Due) (*jobs.Job, *jobs.Attempt, error) {
	job, err := r.Store.Get(ctx, d.JobID)
	if _, ok := errors.AsType[*jobs.Refusal](err); ok {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	attempt := job.Attempt(d.Attempt())
	return job, attempt, nil
}

// ask looks the attempt up or, where the provider dedupes, asks for it again
// under the same key, inside the window only.
func (r *Reconciler) ask(ctx context.Context, p Provider, job *jobs.Job, a *jobs.Attempt) providers.Outcome {
	if lookuper, ok := p.Provider.(providers.Lookuper); ok {
		return lookuper.Lookup(ctx, providers.Ref{
			JobID: job.ID, AttemptID: a.ID, Handle: a.Handle, ClaimedAt: created(p, a),
		})
	}
	within := func() error { return r.mayRepeat(ctx, p, job.ID, a) }
	if within() != nil {
		return providers.LookupFailed("the time in which the provider dedupes is over, or the attempt is settled")
	}
	input, params := job.Input, job.Params
	if r.Prepare != nil {
		var err error
		if input, params, err = r.Prepare(job.Route, p.Name, job.Input, job.Params); err != nil {
			return providers.LookupFailed(err.Error())
		}
	}
	return providers.Repeated(p.Execute(ctx, &providers.Call{
		JobID: job.ID, AttemptID: a.ID, Try: tryOf(job, a), Input: input, Params: params, Traceparent: tracing.Traceparent(ctx),
		NotAfter: created(p, a).Add(p.Window), Wire: providers.NewWire(within),
	}))
}

// entitleTime bounds the question whether a repetition may leave.
const entitleTime = 2 * time.Second

// mayRepeat is asked right before the first byte of a repetition leaves: the window
// is open, by the clock of the store, and the attempt has not been settled while the
// connection was made (I2).
func (r *Reconciler) mayRepeat(ctx context.Context, p Provider, jobID string, a *jobs.Attempt) error {
	ctx, cancel := context.WithTimeout(ctx, entitleTime)
	defer cancel()
	now, err := r.Store.Now(ctx)
	if err != nil {
		return errors.Join(providers.ErrNotEntitled, err)
	}
	job, err := r.Store.Get(ctx, jobID)
	if err != nil {
		return errors.Join(providers.ErrNotEntitled, err)
	}
	seen := job.Attempt(a.Number)
	if now.After(created(p, a).Add(p.Window)) || seen == nil || seen.State != jobs.AttemptUnknown {
		return providers.ErrNotEntitled
	}
	return nil
}

// created is the earliest moment the create can have left: its claim.
func created(p Provider, a *jobs.Attempt) time.Time {
	if a.Deadline.IsZero() {
		return a.CreatedAt.Go()
	}
	return a.Deadline.Go().Add(-p.Deadline)
}

func tryOf(job *jobs.Job, of *jobs.Attempt) int {
	try := 0
	for _, a := range job.Attempts {
		if a.Provider == of.Provider && a.Number <= of.Number {
			try++
		}
	}
	return try
}

// apply makes of what was learnt what it is worth.
func (r *Reconciler) apply(
	ctx context.Context, job *jobs.Job, a *jobs.Attempt, o providers.Outcome, actor string,
) (jobs.Reported, error) {
	if r.Judge != nil {
		o = r.Judge(job.Route, o)
	}
	ending := jobs.Ending{JobID: job.ID, Attempt: a.Number, Effect: string(o.Effect), Actor: actor, Op: jobs.NewOp()}
	if o.Evidence.BytesWritten > 0 {
		ending.Evidence, _ = json.Marshal(o.Evidence)
	}
	var reported jobs.Reported
	var err error
	switch o.Kind {
	case providers.Succeeded:
		reported, err = r.Store.Finalize(ctx, ending, o.Result, o.Usage)
	case providers.Failed:
		var failure jobs.Failure
		if failure, err = r.failure(ctx, job, o); err == nil {
			reported, err = r.Store.Fail(ctx, ending, failure)
		}
	case providers.Accepted:
		return jobs.Reported{State: job.State}, r.Store.Look(ctx, job.ID, a.Number, saidRunning)
	default:
		return jobs.Reported{State: job.State}, r.Store.Look(ctx, job.ID, a.Number, o.Reason+": "+o.Message)
	}
	if err != nil {
		return reported, err
	}
	r.Log.InfoContext(ctx, "attempt settled", "by", actor, "job", job.ID, "attempt", a.Number, "owner", job.Owner,
		"provider", a.Provider, "outcome", o.Kind, "reason", o.Reason, "late", reported.Late, "state", reported.State)
	r.Observe.withDefaults().Settled(Settled{Provider: a.Provider, Outcome: o.Kind, Reason: o.Reason, Late: reported.Late})
	for _, w := range reported.Wakes {
		r.Waker.Wake(ctx, w)
	}
	return reported, nil
}

// Report takes what a provider says about an attempt without being asked.
func (r *Reconciler) Report(ctx context.Context, jobID string, attempt int, o providers.Outcome) (jobs.Reported, error) {
	job, err := r.Store.Get(ctx, jobID)
	if err != nil {
		return jobs.Reported{}, err
	}
	a := job.Attempt(attempt)
	if a == nil {
		return jobs.Reported{}, &jobs.Refusal{Code: jobs.CodeNoAttempt, JobID: jobID}
	}
	traceReport(ctx, job, a, o)
	return r.apply(ctx, job, a, o, "provider:"+a.Provider)
}

func (r *Reconciler) failure(ctx context.Context, job *jobs.Job, o providers.Outcome) (jobs.Failure, error) {
	policy, err := r.Policy(ctx, job.Route, job.Params)
	if err != nil {
		return jobs.Failure{}, fmt.Errorf("asking for the policy of route %s: %w", job.Route, err)
	}
	if policy == nil { // the route has left the configuration: nothing follows
		return jobs.Failure{Reason: o.Reason, Message: o.Message, Policy: &jobs.Policy{}}, nil
	}
	return jobs.Failure{
		Reason: o.Reason, Message: o.Message, Retryable: o.Retryable, RetryAfter: o.RetryAfter, Policy: policy,
	}, nil
}

// settle fails an attempt of which no answer can come any more, as the operator
// has declared.
func (r *Reconciler) settle(ctx context.Context, d jobs.Due) error {
	job, attempt, err := r.read(ctx, d)
	if err != nil {
		return err
	}
	if attempt != nil && attempt.State == jobs.AttemptUnknown {
		if _, err := r.apply(ctx, job, attempt, providers.Settled(), reconciler); err != nil {
			return err
		}
	}
	return r.Store.Forget(ctx, d)
}

// cancel asks the provider to stop a call that is not wanted any more.
func (r *Reconciler) cancel(ctx context.Context, d jobs.Due) error {
	job, attempt, err := r.read(ctx, d)
	if err != nil {
		return err
	}
	provider, known := r.Providers[d.Provider]
	if !known && attempt != nil {
		return nil // a worker with a newer configuration may know it
	}
	canceler, ok := provider.Provider.(providers.Canceler)
	if !ok || attempt == nil {
		return r.Store.Forget(ctx, d)
	}
	ctx, end := r.trace(ctx, tracing.SpanCancel, job, attempt)
	defer func() { end(providers.Outcome{}) }()
	if err := canceler.Cancel(ctx, providers.Ref{JobID: job.ID, AttemptID: attempt.ID, Handle: attempt.Handle}); err != nil {
		return fmt.Errorf("asking %s to cancel: %w", d.Provider, err)
	}
	if err := r.Store.Note(ctx, job.ID, attempt.Number, "cancel_asked", "the provider was asked to cancel"); err != nil {
		return err
	}
	return r.Store.Forget(ctx, d)
}
