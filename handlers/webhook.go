package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"onejob/jobs"
	"onejob/tasks"
	"onejob/tracing"
	"onejob/webhooks"
)

// WebhookOptions are what Webhooks are made of.
type WebhookOptions struct {
	Store     *jobs.Store
	Secrets   *webhooks.Secrets
	Sender    *webhooks.Sender
	Hosts     *webhooks.Hosts
	Slowdowns webhooks.Slowdowns
	Log       *slog.Logger
	// Tracer makes a span of every try. Its zero value makes none.
	Tracer tracing.Tracer
	// Observe is told of every try: its event, and delivered, pending (it is tried
	// again), exhausted or disabled. Defaults to telling nobody.
	Observe func(event, outcome string)
}

// Webhooks tells the jobs' webhooks what has become of them. Each try is taken by
// one worker; what it learns decides, in the store, about the next (design §3).
// Deliveries are made at least once: one whose report was lost is made again.
type Webhooks struct {
	options WebhookOptions
	sending context.Context // ends when Drain has waited long enough
	give    context.CancelFunc

	mu      sync.Mutex
	stopped bool
	busy    sync.WaitGroup
}

// NewWebhooks returns Webhooks; Drain ends them.
func NewWebhooks(o WebhookOptions) *Webhooks {
	if o.Observe == nil {
		o.Observe = func(string, string) {}
	}
	sending, give := context.WithCancel(context.Background())
	return &Webhooks{options: o, sending: sending, give: give}
}

const (
	// reportTime is how much longer than a try the turn at it lasts, for its report.
	reportTime = 15 * time.Second
	// askStoreTime bounds each question to the store.
	askStoreTime = 5 * time.Second
)

// Handle looks at a delivery and makes the try that is due. An error has asynq bring
// the task again; what a receiver says is none.
func (w *Webhooks) Handle(ctx context.Context, task *asynq.Task) error {
	of, err := tasks.ReadWebhook(task)
	if err != nil {
		return err
	}
	if !w.begin() {
		return nil // stopping: the sweeper of another hands it out again
	}
	defer w.busy.Done()
	// asynq's context does not end a try: the turn that was taken does.
	return w.deliver(context.WithoutCancel(ctx), of)
}

func (w *Webhooks) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	w.busy.Add(1)
	return true
}

// Drain begins no more tries, lets those under way end until ctx does, and then
// gives them up: they are made again once their turn has passed.
func (w *Webhooks) Drain(ctx context.Context) {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	stop := context.AfterFunc(ctx, w.give)
	defer stop()
	w.busy.Wait()
	w.give()
	w.options.Sender.Close()
}

func (w *Webhooks) deliver(ctx context.Context, of tasks.Webhook) error {
	job, delivery, err := w.read(ctx, of)
	if err != nil || delivery == nil {
		return err
	}
	host := webhooks.Host(job.WebhookURL)
	leave, err := w.enter(ctx, job, of, host)
	if err != nil || leave == nil {
		return err
	}
	defer leave()
	token := jobs.NewOp()
	try, err := w.take(ctx, of, token)
	if err != nil || try == 0 {
		return err
	}
	outcome := w.sendTraced(ctx, job, delivery, try)
	return w.report(ctx, job, delivery, host, try, token, outcome)
}

// read gives the job as it is now and its delivery, nil when there is nothing to
// send.
func (w *Webhooks) read(ctx context.Context, of tasks.Webhook) (*jobs.Job, *jobs.Webhook, error) {
	ctx, cancel := context.WithTimeout(ctx, askStoreTime)
	defer cancel()
	job, err := w.options.Store.Get(ctx, of.JobID)
	if _, ok := errors.AsType[*jobs.Refusal](err); ok {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	delivery := job.Webhook(of.Number)
	if delivery == nil || delivery.State != jobs.WebhookPending {
		return nil, nil, nil
	}
	return job, delivery, nil
}

// enter finds room at the receiver. Without any, or while it asks to be left alone,
// the delivery comes up again later, and this is no try.
func (w *Webhooks) enter(ctx context.Context, job *jobs.Job, of tasks.Webhook, host string) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, askStoreTime)
	defer cancel()
	wait, err := w.options.Slowdowns.Left(ctx, job.Owner, host)
	if err != nil {
		return nil, err
	}
	if wait == 0 {
		var leave func()
		if leave, wait = w.options.Hosts.Enter(host); leave != nil {
			return leave, nil
		}
	}
	return nil, w.options.Store.Postpone(ctx, jobs.DueOfWebhook(of.JobID, of.Number), wait)
}

func (w *Webhooks) take(ctx context.Context, of tasks.Webhook, token string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, askStoreTime)
	defer cancel()
	return w.options.Store.TakeWebhook(ctx, of.JobID, of.Number, token, w.options.Sender.Timeout()+reportTime)
}

// event is the body of a delivery (Standard Webhooks, "Payload").
type event struct {
	Type      string    `json:"type"`
	Timestamp jobs.Time `json:"timestamp"` // of the event, not of the try
	Data      *jobs.Job `json:"data"`
}

// bodyOf is the event with the job as it is now: what a receiver is told is never
// older than what it was told before, and for a job that does not change any more
// all tries have the same bytes. The books of the deliveries are left out, for they
// change with every try.
func bodyOf(job *jobs.Job, of *jobs.Webhook) ([]byte, error) {
	data := *job
	data.Webhooks = nil
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(event{Type: of.Event, Timestamp: of.At, Data: &data}); err != nil {
		return nil, fmt.Errorf("writing webhook %s: %w", of.ID, err)
	}
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), nil
}

func (w *Webhooks) send(ctx context.Context, job *jobs.Job, of *jobs.Webhook) webhooks.Outcome {
	body, err := bodyOf(job, of)
	if err != nil {
		return webhooks.Outcome{Error: "the job could not be written as JSON"}
	}
	asking, cancel := context.WithTimeout(ctx, askStoreTime)
	secret, err := w.options.Secrets.Of(asking, job.Owner)
	cancel()
	switch {
	case errors.Is(err, webhooks.ErrNoSecret):
		return webhooks.Outcome{Error: "the owner has no webhook secret; make one with onejob keys webhook-secret"}
	case err != nil:
		return webhooks.Outcome{Error: "the webhook secret could not be read"}
	}
	return w.options.Sender.Send(w.sending, webhooks.Message{ID: of.ID, URL: job.WebhookURL, Body: body, Secrets: secret.Keys()})
}

// report tells the store, which plans what follows, and the log. A report that
// cannot be made means that the try is made again.
func (w *Webhooks) report(
	ctx context.Context, job *jobs.Job, of *jobs.Webhook, host string, try int, token string, o webhooks.Outcome,
) error {
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	planned, err := w.options.Store.ReportWebhook(ctx, jobs.WebhookTried{
		JobID: job.ID, Number: of.Number, Token: token, Delivered: o.Delivered, Gone: o.Gone, Status: o.Status, Error: o.Error,
		RetryAfter: o.RetryAfter, Slow: o.Slow,
	})
	if err != nil {
		return err
	}
	if planned.State != "" {
		w.options.Observe(of.Event, string(planned.State))
	}
	level := slog.LevelInfo
	if !o.Delivered {
		level = slog.LevelWarn
	}
	w.options.Log.Log(ctx, level, "webhook tried", "job", job.ID, "owner", job.Owner, "webhook", of.Number, "event", of.Event,
		"try", try, "host", host, "status", o.Status, "error", o.Error, "took", o.Took, "state", planned.State, "next_in", planned.Next)
	if o.Slow || o.RetryAfter > 0 {
		return w.options.Slowdowns.Slow(ctx, job.Owner, host, o.RetryAfter)
	}
	return nil
}
