package chaos_test

import (
	"fmt"
	"strings"

	"onejob/jobs"
)

// story is all that is known of one key at the end.
type story struct {
	Job    jobs.Job
	Trail  []jobs.Event
	Ledger []entry
	Calls  []call
}

// wrong says which invariants of design §2 a story breaks.
func (s *story) wrong() []string {
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	s.acknowledged(say)
	s.creates(say)
	s.winner(say)
	s.trail(say)
	if !s.Job.State.Ended() {
		say("I10: job %s is %s at the end", s.Job.ID, s.Job.State)
	}
	return found
}

func (s *story) acknowledged(say func(string, ...any)) {
	for _, c := range s.Calls {
		switch {
		case c.Kind == "submit" && (c.Status == 200 || c.Status == 202) && c.Job.ID != s.Job.ID:
			say("I1, I7: %s was acknowledged as %q, and is %q", c.Key, c.Job.ID, s.Job.ID)
		case c.Kind == "other" && c.Status != 0 && c.Status < 500 && c.Status != 409:
			say("I8: another body was answered %d", c.Status)
		}
		if c.Job.State.Final() && c.Job.State != s.Job.State {
			say("I5: was %s, is %s", c.Job.State, s.Job.State)
		}
		if len(c.Job.Result) > 0 && c.Job.Result != string(s.Job.Result) {
			say("I3: the result was %s, is %s", c.Job.Result, s.Job.Result)
		}
		for _, later := range s.Calls {
			if c.Status > 0 && c.Status < 300 && later.Status > 0 && later.Status < 300 && c.End.Before(later.Start) && later.Job.Version < c.Job.Version {
				say("I9: version %d after %d", later.Job.Version, c.Job.Version)
			}
		}
	}
}

func (s *story) creates(say func(string, ...any)) {
	times := map[string]int{}
	for _, e := range s.Ledger {
		if e.Kind != "create" {
			continue
		}
		times[e.Attempt]++
		if times[e.Attempt] > 1 {
			say("I2: %s was created %d times", e.Attempt, times[e.Attempt])
		}
		if !strings.HasPrefix(e.Attempt, s.Job.ID+"-a") {
			say("I2: the provider was asked for %s, which is not of job %s", e.Attempt, s.Job.ID)
		}
	}
}

func (s *story) winner(say func(string, ...any)) {
	winners := 0
	for _, a := range s.Job.Attempts {
		if a.State == jobs.AttemptSucceeded {
			winners++
			if a.Number != s.Job.CompletedBy {
				say("I3: attempt %d succeeded, completed_by is %d", a.Number, s.Job.CompletedBy)
			}
		}
		if a.State.Open() && s.Job.State.Ended() {
			say("I10: attempt %d is %s beneath an ended job", a.Number, a.State)
		}
	}
	if (s.Job.State == jobs.Succeeded) != (winners == 1) || winners > 1 {
		say("I3: job %s with %d winners", s.Job.State, winners)
	}
	if s.Job.State != jobs.Succeeded {
		return
	}
	want := ""
	for _, e := range s.Ledger {
		if e.Attempt == jobs.AttemptID(s.Job.ID, s.Job.CompletedBy) && e.Result != "" {
			want = resultJSON(e.Result)
		}
	}
	if string(s.Job.Result) != want {
		say("I3: the result is %s, the ledger of the winner says %q", s.Job.Result, want)
	}
}

// trail walks the lines in their order: at most one attempt open (I4, and with it the
// second half of I2), terminal attempts stay so (I5), late outcomes change no winner (I6).
func (s *story) trail(say func(string, ...any)) {
	states, late := map[int]string{}, map[int]bool{}
	for _, e := range s.Trail {
		if e.Attempt == 0 {
			continue
		}
		if e.Verb == "late_result_discarded" {
			late[e.Attempt] = true
		}
		was := states[e.Attempt]
		if was != "" && !jobs.AttemptState(was).Open() && e.To != "" && e.To != was {
			say("I5: attempt %d went from %s to %s (line %s)", e.Attempt, was, e.To, e.ID)
		}
		if e.Verb == "open" {
			for n, state := range states {
				if jobs.AttemptState(state).Open() {
					say("I4: attempt %d opened while %d was %s", e.Attempt, n, state)
				}
			}
		}
		if e.To != "" {
			states[e.Attempt] = e.To
		}
	}
	for _, a := range s.Job.Attempts {
		if (a.LateResult != nil) != late[a.Number] {
			say("I6: attempt %d, late_result %v, in the trail %v", a.Number, a.LateResult != nil, late[a.Number])
		}
	}
}
