package witness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"onejob/jobs"
)

// Verdict is what the records say, held against what the witness knows.
type Verdict struct {
	Jobs   int            // on record
	States map[string]int // of those
	// Lost are the acknowledged jobs that are on no record.
	Lost []string
	// Lapsed are attempts that the press was asked for and that are on no record,
	// though their jobs are: their claims were lost.
	Lapsed []string
	// Broken are the rules that do not hold, by their names in design §2.
	Broken []string
}

// story is what is known of one job.
type story struct {
	job     *jobs.Job
	trail   []jobs.Event
	creates []Create
	sights  []Sight
}

// Judge reads every record of the store and compares. It is for a store that has come
// to rest.
func (w *Witness) Judge(ctx context.Context, store *jobs.Store) (Verdict, error) {
	v := Verdict{States: map[string]int{}}
	stories := map[string]*story{}
	err := store.EachJob(ctx, func(id string) error {
		job, err := store.Get(ctx, id)
		if err != nil {
			return err
		}
		trail, err := w.trailOf(ctx, store, job)
		stories[id] = &story{job: job, trail: trail, sights: w.sightsOf(id)}
		return err
	})
	if err != nil {
		return v, fmt.Errorf("reading the records: %w", err)
	}
	creates := map[string][]Create{}
	for _, c := range w.Press.Creates(0) {
		creates[c.Job] = append(creates[c.Job], c)
	}
	say := func(format string, args ...any) { v.Broken = append(v.Broken, fmt.Sprintf(format, args...)) }
	w.unanswered(say)
	w.count(&v, stories, say)
	for id, asked := range creates { // also of jobs that were lost
		once(id, asked, say)
		if s := stories[id]; s != nil {
			s.creates = asked
			v.Lapsed = append(v.Lapsed, s.lapsed()...)
		}
	}
	for id, s := range stories {
		s.judge(func(format string, args ...any) { say("%s: "+format, append([]any{id}, args...)...) })
	}
	slices.Sort(v.Broken)
	return v, nil
}

// read is a trail that was read at a revision of its job.
type read struct {
	revision int64
	trail    []jobs.Event
}

// trailOf reads a trail, once as long as its job does not change.
func (w *Witness) trailOf(ctx context.Context, store *jobs.Store, job *jobs.Job) ([]jobs.Event, error) {
	if known, ok := w.trails[job.ID]; ok && known.revision == job.Revision {
		return known.trail, nil
	}
	trail, err := store.Events(ctx, job.ID, "", 1000)
	if err == nil {
		w.trails[job.ID] = read{job.Revision, trail}
	}
	return trail, err
}

// count finds what was lost (I1), and keys with two jobs (I7).
func (w *Witness) count(v *Verdict, stories map[string]*story, say func(string, ...any)) {
	holders := map[string]string{}
	for id, s := range stories {
		v.Jobs++
		v.States[string(s.job.State)]++
		key := s.job.IdempotencyKey
		if other, ok := holders[key]; ok {
			say("I7: key %s has two jobs, %s and %s", key, other, id)
		}
		holders[key] = id
	}
	for id, key := range w.Acknowledged() {
		switch s := stories[id]; {
		case s == nil:
			v.Lost = append(v.Lost, id)
		case s.job.IdempotencyKey != key:
			say("I7: %s was acknowledged for key %s and has key %s", id, key, s.job.IdempotencyKey)
		}
	}
	slices.Sort(v.Lost)
}

// once: one create an attempt, and one effect a job, for only a definite no lets
// another attempt follow (I2).
func once(id string, creates []Create, say func(string, ...any)) {
	attempts, effect := map[string]bool{}, ""
	for _, c := range creates {
		if attempts[c.Attempt] {
			say("I2: %s was sent twice", c.Attempt)
		}
		attempts[c.Attempt] = true
		if effect != "" {
			say("I2: %s was sent after %s had its effect", c.Attempt, effect)
		}
		if c.Effect {
			effect = c.Attempt
		}
		if !strings.HasPrefix(c.Attempt, id+"-a") {
			say("I2: %s was sent for job %s", c.Attempt, id)
		}
	}
}

// lapsed are attempts that were sent and are not on record.
func (s *story) lapsed() []string {
	var found []string
	for _, c := range s.creates {
		if !slices.ContainsFunc(s.job.Attempts, func(a jobs.Attempt) bool { return a.ID == c.Attempt }) {
			found = append(found, c.Attempt)
		}
	}
	return found
}

func (s *story) judge(say func(string, ...any)) {
	s.winner(say)
	s.walk(say)
	s.seen(say)
	if !s.job.State.Ended() {
		say("I10: it is %s at the end", s.job.State)
	}
}

// winner: succeeded, if and only if there is exactly one, its bytes unchanged (I3).
func (s *story) winner(say func(string, ...any)) {
	winners := 0
	for _, a := range s.job.Attempts {
		if a.State != jobs.AttemptSucceeded {
			continue
		}
		winners++
		at := slices.IndexFunc(s.creates, func(c Create) bool { return c.Attempt == a.ID })
		switch {
		case a.Number != s.job.CompletedBy:
			say("I3: attempt %d succeeded, completed_by is %d", a.Number, s.job.CompletedBy)
		case at < 0:
			say("I3: attempt %d succeeded and was never sent", a.Number)
		case string(s.creates[at].Result()) != string(s.job.Result):
			say("I3: the press answered %s, the result is %s", s.creates[at].Result(), s.job.Result)
		}
	}
	if (s.job.State == jobs.Succeeded) != (winners == 1) || winners > 1 {
		say("I3: it is %s with %d winners", s.job.State, winners)
	}
}

// walk follows the trail: nothing opens beside what is open (I4), nothing that ended
// goes on (I5).
func (s *story) walk(say func(string, ...any)) {
	states := map[int]jobs.AttemptState{}
	for _, e := range s.trail {
		if e.Attempt == 0 || e.To == "" || e.From == e.To {
			continue
		}
		if e.From == "" {
			for n, state := range states {
				if state.Open() {
					say("I4: attempt %d opened while %d was %s", e.Attempt, n, state)
				}
			}
		} else if was := states[e.Attempt]; was != "" && !was.Open() {
			say("I5: attempt %d was %s, and became %s", e.Attempt, was, e.To)
		}
		states[e.Attempt] = jobs.AttemptState(e.To)
	}
	for _, a := range s.job.Attempts {
		if states[a.Number] != a.State {
			say("the trail leaves attempt %d %s, the record has it %s", a.Number, states[a.Number], a.State)
		}
	}
}

// seen: what callers were shown while the store was not lost agrees with itself: a
// final job stays (I5), its result stays (I3), the version only rises (I9).
func (s *story) seen(say func(string, ...any)) {
	for i, before := range s.sights {
		for _, after := range s.sights[i+1:] {
			if after.Era != before.Era || !before.End.Before(after.Start) {
				continue
			}
			if before.Job.State.Final() && after.Job.State != before.Job.State {
				say("I5: shown %s, then %s", before.Job.State, after.Job.State)
			}
			if len(before.Job.Result) > 0 && string(before.Job.Result) != string(after.Job.Result) {
				say("I3: shown the result %s, then %s", before.Job.Result, after.Job.Result)
			}
			if after.Job.Version < before.Job.Version {
				say("I9: shown version %d, then %d", before.Job.Version, after.Job.Version)
			}
		}
	}
}

// Err is an error that says what is broken; at most a few of it.
func (v *Verdict) Err() error {
	if len(v.Broken) == 0 {
		return nil
	}
	return errors.New(fmt.Sprint(len(v.Broken), " rules broken:\n", strings.Join(v.Broken[:min(len(v.Broken), 10)], "\n")))
}
