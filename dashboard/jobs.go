package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"onejob/dashboard/payload"
	"onejob/jobs"
)

// JobStore is what the pages about jobs ask of the record; *jobs.Store is one. It
// decides; its refusals are *jobs.Refusal.
type JobStore interface {
	Get(ctx context.Context, id string) (*jobs.Job, error)
	List(ctx context.Context, q jobs.Query) (jobs.Page, error)
	Events(ctx context.Context, jobID, after string, limit int) ([]jobs.Event, error)
	Open(ctx context.Context, r jobs.OpenRequest) (jobs.Changed, error)
	CancelJob(ctx context.Context, d jobs.Decision) (jobs.Changed, error)
	Resolve(ctx context.Context, r jobs.Resolution) (jobs.Changed, error)
	Wait(ctx context.Context, d jobs.Decision) (jobs.Changed, error)
	Redeliver(ctx context.Context, d jobs.Decision, n int) (jobs.Changed, error)
}

// Waker puts wake-ups on the queue; *tasks.Waker is one. One that is lost is made
// again by the sweeper (design §4).
type Waker interface {
	Wake(ctx context.Context, w jobs.Wake)
}

// JobsConfig is what the pages about jobs are made of.
type JobsConfig struct {
	// CheckResult holds a result a person enters against the output rules of its
	// route; the error says which it breaks. Defaults to taking all.
	CheckResult func(route string, result json.RawMessage) error
	// PolicyFor is the plan of a route, to go on by after a decision; nil for a route
	// it does not know. Defaults to knowing none.
	PolicyFor jobs.PolicyFunc
	// Redact says what of inputs, results and evidence is not shown. Nil: nothing is
	// kept back.
	Redact *payload.Redactor
	// Routes are those of the configuration, by name.
	Routes map[string]JobRoute
	// Store is the record of jobs.
	Store JobStore
	// Waker is told of attempts that were opened.
	Waker Waker
}

// JobRoute is a route as it is configured.
type JobRoute struct {
	Providers []string
	// Harmless: it declares effects: none.
	Harmless bool
}

func (c JobsConfig) withDefaults() JobsConfig {
	if c.CheckResult == nil {
		c.CheckResult = func(string, json.RawMessage) error { return nil }
	}
	if c.PolicyFor == nil {
		c.PolicyFor = jobs.PolicyByRoute(func(string) *jobs.Policy { return nil })
	}
	return c
}

func (p *Pages) jobRoutes() []route {
	return []route{
		{"GET /unknown", p.inboxPage},
		{"GET /jobs", p.jobsPage},
		{"POST /jobs/bulk", p.bulk},
		{"GET /jobs/{id}", p.jobPage},
		{"GET /jobs/{id}/decide", p.decidePage},
		{"POST /jobs/{id}/decide", p.decide},
		{"POST /jobs/{id}/webhooks/{n}/redeliver", p.redeliver},
	}
}

// liveAlways makes a page fetch itself again when a job has changed, and when time
// has passed: an attempt stops being listened to without a write.
const liveAlways = "changed, sse:beat"

// routeNames and providerNames are for filters.
func (c JobsConfig) routeNames() []string { return slices.Sorted(maps.Keys(c.Routes)) }

func (c JobsConfig) providerNames() []string {
	var names []string
	for _, r := range c.Routes {
		names = append(names, r.Providers...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// stateKinds are the colours of states of jobs and attempts.
var stateKinds = map[string]string{
	"queued": "idle", "starting": "idle", "running": "info", "unknown": "warn", "succeeded": "good", "failed": "bad",
	"cancelled": "idle", "discarded": "idle",
	"pending": "info", "delivered": "good", "exhausted": "bad", "disabled": "idle",
}

// stateBadge shows a state of a job, an attempt or a delivery; any string type will do.
func stateBadge(state any) badge {
	word := payload.Line(asString(state), 40)
	kind, ok := stateKinds[word]
	if !ok {
		kind = "idle"
	}
	return badge{Word: word, Kind: kind}
}

func asString(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case jobs.State:
		return string(v)
	case jobs.AttemptState:
		return string(v)
	case jobs.WebhookState:
		return string(v)
	}
	return ""
}

// recordNewer is the answer for a job that this process cannot read.
func recordNewer() *Refusal {
	return &Refusal{"record-newer", "This job was written by a newer version of onejob, which this process cannot read. Nothing was changed. Open the page of a process of that version."}
}

// refusedVerb says a refusal of the store in a page's words; any other error is
// given back as it is.
func refusedVerb(err error) error {
	var r *jobs.Refusal
	if _, ok := errors.AsType[*jobs.NewerSchema](err); ok {
		return recordNewer()
	}
	if !errors.As(err, &r) {
		return err
	}
	switch r.Code {
	case jobs.CodeNotFound, jobs.CodeExpiring:
		return refuse("not-found", "There is no such job, or its record has expired.")
	case jobs.CodeNoAttempt:
		return refuse("not-found", "The job has no attempt with that number.")
	case jobs.CodeNoWebhook:
		return refuse("not-found", "The job has no webhook delivery with that number.")
	case jobs.CodeVersion:
		return refuse("version-mismatch", "The job moved on since this page was shown to you. Nothing was changed.")
	default:
		return refuse("job-final", "The job moved on since this page was shown to you: what you asked for is not possible any more. Nothing was changed.")
	}
}
