// Package timeline draws the life of a job: what was queued, sent, silent, unknown,
// answered, answered too late, and who won.
//
// It is pure: a job, its trail and the time now make a Timeline; a Timeline makes
// an SVG without styles of its own (a strict content policy lets it be shown), and
// rows that say the same to who cannot see it. What it draws is what was recorded:
// an axis that leaves time out says so, and clocks that disagree are pointed out.
package timeline

import (
	"time"

	"onejob/jobs"
)

// Timeline is the life of one job.
type Timeline struct {
	JobID string
	State jobs.State
	From  time.Time // the job was created
	To    time.Time // the last thing that is shown; now, as long as the job has not ended
	Live  bool      // the job has not ended
	Ended time.Time // zero with Live
	Lanes []Lane    // one an attempt, by number
	Notes []string  // what is odd about the times, in whole sentences
}

// Lane is one attempt.
type Lane struct {
	Attempt  int
	Provider string
	State    jobs.AttemptState
	Winner   bool
	Spans    []Span // without gaps, in order
	Marks    []Mark // in order
}

// Kind names what an attempt did for a while.
type Kind string

// Kinds of spans. They are part of the classes in the SVG.
const (
	Pause      Kind = "pause"      // not to start yet: the plan's back-off
	Queued     Kind = "queued"     // waiting for a worker
	Connecting Kind = "connecting" // claimed, nothing has left yet
	Waiting    Kind = "waiting"    // sent, nothing heard yet
	Receiving  Kind = "receiving"  // an answer is arriving
	Silence    Kind = "silence"    // nothing heard, until that made it unknown
	Unknown    Kind = "unknown"    // nobody knows how it ended
)

// Span is a while. Open: it goes on.
type Span struct {
	Kind     Kind
	From, To time.Time
	Open     bool
}

// Sign names what happened at one moment.
type Sign string

// Signs of marks. They are part of the classes in the SVG.
const (
	Sent      Sign = "sent"
	Suspected Sign = "suspected" // became unknown
	Looked    Sign = "looked"    // asked the provider
	Held      Sign = "held"      // an operator holds it back
	Noted     Sign = "noted"     // a person looked and left a line
	Won       Sign = "won"       // its answer is the job's result
	Refused   Sign = "refused"   // a definite no
	Cancelled Sign = "cancelled"
	Lost      Sign = "lost" // shut out: another attempt won
	Late      Sign = "late" // an answer that came too late: discarded and logged
)

// Mark is a moment.
type Mark struct {
	Sign Sign
	At   time.Time
	Text string // a few words
}

// Of makes the timeline of a job out of its record and its trail. events may be
// less than the whole trail: what is missing is told by the record, less exactly.
func Of(job *jobs.Job, events []jobs.Event, now time.Time) Timeline {
	t := Timeline{JobID: job.ID, State: job.State, From: job.CreatedAt.Go(), Live: !job.State.Ended()}
	if !t.Live {
		t.Ended = job.EndedAt.Go()
	}
	end := now.UTC()
	if end.Before(latest(job, events)) {
		if t.Live {
			t.Notes = append(t.Notes, "This computer's clock is behind the store's; the store's is shown.")
		}
		end = latest(job, events)
	}
	for i := range job.Attempts {
		a := &job.Attempts[i]
		l := laneOf{job: job, a: a, now: end}
		for _, e := range events {
			if e.Attempt == a.Number {
				l.events = append(l.events, e)
			}
			if e.Verb == "cancel" && e.Attempt == 0 {
				l.cancelledBy = e.Actor
			}
		}
		lane, notes := l.make()
		t.Lanes = append(t.Lanes, lane)
		t.Notes = append(t.Notes, notes...)
	}
	t.To = t.Ended
	if t.Live {
		t.To = end
	}
	for _, moment := range t.moments() {
		if moment.After(t.To) {
			t.To = moment
		}
		if moment.Before(t.From) {
			t.From = moment
		}
	}
	return t
}

// latest is the latest time the store has recorded.
func latest(job *jobs.Job, events []jobs.Event) time.Time {
	last := max(job.CreatedAt, job.UpdatedAt, job.EndedAt)
	for _, e := range events {
		last = max(last, e.At)
	}
	return last.Go()
}

// moments are all times at which something begins, ends or happens.
func (t Timeline) moments() []time.Time {
	moments := []time.Time{t.From}
	if !t.Ended.IsZero() {
		moments = append(moments, t.Ended)
	}
	for _, lane := range t.Lanes {
		for _, s := range lane.Spans {
			moments = append(moments, s.From, s.To)
		}
		for _, m := range lane.Marks {
			moments = append(moments, m.At)
		}
	}
	return moments
}
