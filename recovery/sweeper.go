// Package recovery finds what was left behind: attempts nobody woke, leases
// nobody beats, records that expired. Every worker sweeps; there is no leader.
//
// It decides nothing: it asks the store's scripts, which look whether what is
// due still holds (design §4).
package recovery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"onejob/jobs"
	"onejob/tasks"
)

// Options are what a Sweeper is made of.
type Options struct {
	Store      *jobs.Store
	Queue      *tasks.Queue
	Reconciler *Reconciler
	// Remind tells what to be reminded of when an attempt becomes unknown.
	Remind func(route, provider string) jobs.Reminders
	// Every is the pause between two sweeps. Defaults to 1 s, or a beat if that is
	// shorter.
	Every time.Duration
	// Beat is the workers' pause between two beats: when nobody has swept for
	// longer than that, the store was away and so were everybody's beats. Defaults
	// to 5 s.
	Beat time.Duration
	Log  *slog.Logger
	// Observe is told what happens. Its zero value tells nobody.
	Observe Observer
}

// Sweeper takes turns at what is overdue. Its cost grows with that, not with
// what is stored.
type Sweeper struct {
	options Options
	left    tasks.Left
	patient atomic.Pointer[time.Time] // until then nobody is suspected: the store was away
}

// NewSweeper returns a Sweeper; Run runs it.
func NewSweeper(o Options) *Sweeper {
	if o.Beat == 0 {
		o.Beat = 5 * time.Second
	}
	if o.Every == 0 {
		o.Every = min(time.Second, o.Beat)
	}
	o.Observe = o.Observe.withDefaults()
	return &Sweeper{options: o}
}

// Run sweeps until ctx ends.
func (s *Sweeper) Run(ctx context.Context) {
	ticker := time.NewTicker(s.options.Every)
	defer ticker.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.WarnContext(ctx, "sweep failed", "error", err)
		}
		select {
		case <-ctx.Done():
			s.options.Reconciler.Wait()
			return
		case <-ticker.C:
		}
	}
}

// errNewer is why an overdue entry was left alone.
var errNewer = errors.New("entries are due of jobs that a newer onejob wrote; run a worker of its version")

// Sweep deals once with what is overdue now.
func (s *Sweeper) Sweep(ctx context.Context) error {
	began, swept := time.Now(), Swept{Taken: map[string]int{}}
	swept.Err = s.sweep(ctx, &swept)
	swept.At, swept.Took = time.Now(), time.Since(began)
	s.options.Observe.Swept(swept)
	return swept.Err
}

func (s *Sweeper) sweep(ctx context.Context, swept *Swept) error {
	overdue, lag, unread := s.options.Store.Overdue(ctx)
	swept.Lag = lag
	if unread == nil { // else the gap goes on for what could not be read
		if err := s.patience(ctx); err != nil {
			return err
		}
		defer s.vouch(ctx)()
	}
	for _, p := range overdue {
		if err := s.partition(ctx, p, swept); err != nil {
			unread = errors.Join(unread, err)
		}
	}
	return unread
}

// vouch goes on telling the others that somebody sweeps, for as long as a sweep takes:
// a long one is not a gap, or a sweeper with much to do would be patient for ever. What
// it tells is that the store answers, every partition of it; once it does not, the gap
// has begun. The func it returns ends it.
func (s *Sweeper) vouch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var vouching sync.WaitGroup
	vouching.Go(func() {
		ticker := time.NewTicker(s.options.Every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if _, _, err := s.options.Store.Overdue(ctx); err != nil {
				return
			}
			if err := s.patience(ctx); err != nil {
				return
			}
		}
	})
	return func() {
		cancel()
		vouching.Wait()
	}
}

// patience tells the others that somebody sweeps, and learns whether anybody may be
// suspected yet.
func (s *Sweeper) patience(ctx context.Context) error {
	left, err := s.options.Store.Patience(ctx, s.options.Every+s.options.Beat)
	if err != nil {
		return err
	}
	until := time.Now().Add(left)
	s.patient.Store(&until)
	return nil
}

// mostTurns bounds how often a sweep goes back to one partition.
const mostTurns = 10

// partition deals with what is overdue in one. It goes on there while that is nothing
// but expired jobs: they are cheap, and as many a second as once came.
func (s *Sweeper) partition(ctx context.Context, p int, swept *Swept) error {
	for range mostTurns {
		expired, err := s.turn(ctx, p, swept)
		if err != nil || expired < jobs.TakeMost {
			return err
		}
	}
	return nil
}

// turn deals with what it is given at once, and tells how many expired jobs of it were
// taken out of the indexes.
func (s *Sweeper) turn(ctx context.Context, p int, swept *Swept) (int, error) {
	due, err := s.options.Store.Take(ctx, p)
	if err != nil {
		return 0, err
	}
	var expired []jobs.Due
	for _, d := range due {
		if d.Kind == jobs.DueNewer {
			s.left.Note(ctx, s.options.Log, d.Tries, errNewer)
			continue
		}
		swept.Taken[d.Kind]++
		if d.Kind == jobs.DueExpire {
			expired = append(expired, d)
			continue
		}
		if err := s.deal(ctx, d); err != nil {
			s.logOf(d).WarnContext(ctx, "overdue entry not dealt with; it comes up again", "kind", d.Kind, "error", err)
		}
	}
	if err := s.options.Store.Unindex(ctx, expired...); err != nil {
		s.options.Log.WarnContext(ctx, "expired jobs not taken out of the indexes; they come up again", "jobs", len(expired), "error", err)
		expired = nil
	}
	return len(expired), nil
}

// logOf says what an entry is about.
func (s *Sweeper) logOf(d jobs.Due) *slog.Logger {
	log := s.options.Log.With("job", d.JobID)
	switch d.Kind {
	case jobs.DueTicket, jobs.DueExpire, jobs.DueWebhook: // not of one attempt
		return log
	}
	return log.With("attempt", d.Attempt())
}

func (s *Sweeper) deal(ctx context.Context, d jobs.Due) error {
	switch d.Kind {
	case jobs.DueWake:
		return s.wake(ctx, d)
	case jobs.DueLease:
		return s.suspect(ctx, d)
	case jobs.DueTicket:
		return s.ticket(ctx, d)
	case jobs.DueStart:
		return s.expireStart(ctx, d)
	case jobs.DueRace:
		return s.race(ctx, d)
	case jobs.DueLookup:
		return s.options.Reconciler.start(ctx, d, s.options.Reconciler.lookup)
	case jobs.DueCancel:
		return s.options.Reconciler.start(ctx, d, s.options.Reconciler.cancel)
	case jobs.DueWebhook:
		return s.options.Queue.EnqueueWebhook(ctx, tasks.Webhook{JobID: d.JobID, Number: d.Webhook()}, d.Tries)
	case jobs.DueSettle:
		return s.options.Reconciler.settle(ctx, d)
	}
	return nil // of a newer version, which will take it
}

func (s *Sweeper) wake(ctx context.Context, d jobs.Due) error {
	standing, err := s.options.Queue.Rewake(ctx, jobs.Wake{
		JobID: d.JobID, Attempt: d.Attempt(), Provider: d.Provider, Owner: d.Owner, Tries: d.Tries,
	})
	if err != nil {
		return err
	}
	s.options.Log.InfoContext(ctx, "attempt not claimed yet",
		"job", d.JobID, "attempt", d.Attempt(), "provider", d.Provider, "looks", d.Tries, "wake_up", standing)
	if standing == tasks.Held {
		return s.options.Store.Hold(ctx, d.JobID, d.Attempt(), "an operator archived the wake-up; run or delete it in the queue "+d.Provider)
	}
	return nil
}

// suspect asks for the attempt to be made unknown; the script looks whether its
// lease or deadline has really passed.
func (s *Sweeper) suspect(ctx context.Context, d jobs.Due) error {
	if left := time.Until(*s.patient.Load()); left > 0 {
		// When it is over, and no later: outages that follow each other would add up.
		return s.options.Store.Postpone(ctx, d, left)
	}
	job, err := s.options.Store.Get(ctx, d.JobID)
	if _, ok := errors.AsType[*jobs.Refusal](err); ok {
		return s.options.Store.Forget(ctx, d)
	}
	if err != nil {
		return err
	}
	suspicion := jobs.Suspicion{JobID: d.JobID, Attempt: d.Attempt(), Actor: "sweeper"}
	provider := ""
	if attempt := job.Attempt(d.Attempt()); attempt != nil {
		provider = attempt.Provider
		suspicion.Reminders = s.options.Remind(job.Route, provider)
	}
	suspected, err := s.options.Store.Suspect(ctx, suspicion)
	if suspected {
		s.options.Log.WarnContext(ctx, "outcome unknown: nobody listens any more",
			"job", d.JobID, "attempt", d.Attempt(), "owner", job.Owner, "route", job.Route, "provider", provider)
		s.options.Observe.Suspected(provider)
	}
	return err
}

// expireStart ends a job whose time to start has passed.
func (s *Sweeper) expireStart(ctx context.Context, d jobs.Due) error {
	err := s.options.Store.ExpireStart(ctx, d.JobID, d.Attempt())
	var refusal *jobs.Refusal
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	return s.options.Store.Forget(ctx, d)
}

// race opens the next provider's attempt beside a silent one.
func (s *Sweeper) race(ctx context.Context, d jobs.Due) error {
	job, err := s.options.Store.Get(ctx, d.JobID)
	var refusal *jobs.Refusal
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	if err == nil {
		if err := s.raceJob(ctx, job, d); err != nil {
			return err
		}
	}
	return s.options.Store.Forget(ctx, d)
}

func (s *Sweeper) raceJob(ctx context.Context, job *jobs.Job, d jobs.Due) error {
	policy, err := s.options.Reconciler.Policy(ctx, job.Route, job.Params)
	if err != nil || policy == nil {
		return err
	}
	wakes, why, err := s.options.Store.Race(ctx, d.JobID, d.Attempt(), policy)
	var refusal *jobs.Refusal
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	s.options.Log.InfoContext(ctx, "silent attempt raced", "job", d.JobID, "attempt", d.Attempt(),
		"owner", job.Owner, "route", job.Route, "opened", len(wakes), "why_not", why)
	for _, w := range wakes {
		s.options.Reconciler.Waker.Wake(ctx, w)
	}
	return nil
}

// ticket puts a failed job's ticket on the operator queue and takes the entry off.
func (s *Sweeper) ticket(ctx context.Context, d jobs.Due) error {
	return s.options.Store.IssueTicket(ctx, d, s.options.Queue.EnqueueTicket)
}
