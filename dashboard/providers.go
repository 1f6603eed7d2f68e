package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/audit"
	"onejob/roster"
	"onejob/tasks"
)

// Provider is a provider as it is configured.
type Provider struct {
	Name, Type, Model string
	Concurrency       int      // of one worker
	Routes            []string // that may use it
}

// Certificate is how a provider stands with the contract of a route.
type Certificate struct {
	Route, Provider string
	State           string // valid, or why not
	Why             string // for any state but valid
	Hint            string // the command that certifies
	ID              string // empty where none was issued
	Issued, Expires time.Time
	Proofs          []Proof
}

// Valid tells whether it allows a fail-over now.
func (c Certificate) Valid() bool { return c.State == "valid" }

// Proof says of one property of a contract whether it was proven.
type Proof struct {
	Property string
	Proven   bool
	Evidence string // one line; for an exempt property its reason
	Exempt   bool
}

func (p *Pages) providerRoutes() []route {
	return []route{
		{"GET /providers", p.providersPage},
		{"POST /providers/{name}/pause", p.pauseProvider},
		{"POST /providers/{name}/resume", p.resumeProvider},
	}
}

// Actions on a provider, as the audit log names them.
const (
	actionPause  = "pause-provider"
	actionResume = "resume-provider"
)

func (p *Pages) providersPage(v *visit) error {
	ctx, cancel := v.ctx()
	defer cancel()
	// First what ctx bounds: asynq's inspector waits for a store as long as it likes.
	processes, err := p.cfg.Processes(ctx)
	if err != nil {
		return err
	}
	certificates, err := p.cfg.Certificates(ctx)
	if err != nil {
		return err
	}
	view := providersView{Workers: countWorkers(processes)}
	for _, configured := range p.cfg.Providers {
		queue, err := p.queue(ctx, configured.Name)
		if err != nil {
			return err
		}
		asked, err := p.cfg.AskedToWait(ctx, configured.Name)
		if err != nil {
			return err
		}
		state := providerState{Provider: configured, Queue: queue, AskedToWait: asked, Workers: workersOf(processes, configured.Name)}
		for _, c := range certificates {
			if c.Provider == configured.Name {
				state.Certificates = append(state.Certificates, c)
			}
		}
		view.Providers = append(view.Providers, state)
	}
	for _, name := range []string{tasks.QueueOperator, tasks.QueueWebhooks} {
		queue, err := p.queue(ctx, name)
		if err != nil {
			return err
		}
		view.Others = append(view.Others, queue)
	}
	return v.page("providers", page{Title: "Providers", Nav: "Providers", Live: "beat", Data: view})
}

// providersView is what the page Providers shows.
type providersView struct {
	Providers []providerState
	Others    []queueState // queues that are no provider's
	Workers   int          // that run at all
}

func countWorkers(processes []roster.Process) (n int) {
	for _, process := range processes {
		if process.Kind.Works() {
			n++
		}
	}
	return n
}

// queueState is a queue as asynq has it.
type queueState struct {
	Name                                        string
	Pending, Active, Scheduled, Retry, Archived int
	Oldest                                      time.Duration // the wait of the task that has waited longest
	PausedAt                                    time.Time     // zero: it is not paused
	PausedBy                                    *audit.Entry  // nil where nobody said why
}

// URL is its page in asynqmon.
func (q queueState) URL() string { return queueURL(q.Name) }

// Waiting are the tasks whose turn has not come.
func (q queueState) Waiting() int { return q.Pending + q.Scheduled + q.Retry }

// Paused tells whether a person has stopped it.
func (q queueState) Paused() bool { return !q.PausedAt.IsZero() }

// queue looks at one queue. One that nothing was ever put into is empty.
func (p *Pages) queue(ctx context.Context, name string) (queueState, error) {
	state := queueState{Name: name}
	at, err := p.cfg.Redis.Get(ctx, pausedKey(name)).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return state, fmt.Errorf("looking whether queue %s is paused: %w", name, err)
	}
	if err == nil {
		state.PausedAt = time.Unix(at, 0)
		if state.PausedBy, err = p.pausedBy(ctx, name, state.PausedAt); err != nil {
			return state, err
		}
	}
	// asynq says of a queue it does not know that it failed, in an error of its own.
	known, err := p.inspector.Queues()
	if err != nil {
		return state, fmt.Errorf("listing the queues: %w", err)
	}
	if !slices.Contains(known, name) {
		return state, nil
	}
	info, err := p.inspector.GetQueueInfo(name)
	if err != nil {
		return state, fmt.Errorf("looking at queue %s: %w", name, err)
	}
	state.Pending, state.Active, state.Scheduled = info.Pending, info.Active, info.Scheduled
	state.Retry, state.Archived, state.Oldest = info.Retry, info.Archived, info.Latency
	return state, nil
}

// pausedKey holds the time at which asynq was told to pause a queue. Its inspector
// does not tell of queues that nothing was ever put into.
func pausedKey(queue string) string { return "asynq:{" + queue + "}:paused" }

// pausedWithin is how far the entry of a pause and the pause may be apart: asynq takes
// its time, in whole seconds, from the process's clock and the log from Redis's.
const pausedWithin = 30 * time.Second

// pausedBy is the entry of the pause made then, for its reason; nil for one made in
// asynqmon or by a command.
func (p *Pages) pausedBy(ctx context.Context, name string, at time.Time) (*audit.Entry, error) {
	found, err := p.cfg.Audit.List(ctx, audit.Query{Action: actionPause, TargetIs: name, Outcome: audit.Done, Limit: 1})
	if err != nil || len(found.Entries) == 0 || found.Entries[0].At.Sub(at).Abs() > pausedWithin {
		return nil, err
	}
	return &found.Entries[0], nil
}

// pauseProvider stops the delivery of wake-ups: calls in flight go on, and no new
// one begins. Jobs wait; none fails for it.
func (p *Pages) pauseProvider(v *visit) error {
	return p.setPaused(v, actionPause, true, func(name string) error { return p.inspector.PauseQueue(name) })
}

func (p *Pages) resumeProvider(v *visit) error {
	return p.setPaused(v, actionResume, false, func(name string) error { return p.inspector.UnpauseQueue(name) })
}

func (p *Pages) setPaused(v *visit, action string, paused bool, do func(name string) error) error {
	name := v.r.PathValue("name")
	if !slices.ContainsFunc(p.cfg.Providers, func(c Provider) bool { return c.Name == name }) {
		return refuse("not-found", "There is no provider of this name in the configuration of this process.")
	}
	reason, err := v.reason()
	if err != nil {
		return err
	}
	sentence := "Provider " + name + " is paused. Calls in flight go on; no new one begins until you resume it."
	if !paused {
		sentence = "Provider " + name + " goes on."
	}
	err = v.change(action, name, reason, func(ctx context.Context) error {
		is, err := p.cfg.Redis.Exists(ctx, pausedKey(name)).Result()
		if err != nil {
			return fmt.Errorf("looking whether provider %s is paused: %w", name, err)
		}
		if (is == 1) == paused { // somebody was faster
			return nil
		}
		if err := do(name); err != nil {
			// asynq calls it an error where somebody was faster just now.
			if is, lookErr := p.cfg.Redis.Exists(ctx, pausedKey(name)).Result(); lookErr == nil && (is == 1) == paused {
				return nil
			}
			return fmt.Errorf("changing the queue of provider %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.done(sentence, Root+"/providers")
}
