package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"onejob/dashboard/payload"
	"onejob/jobs"
)

// laneOf makes the lane of one attempt.
type laneOf struct {
	job         *jobs.Job
	a           *jobs.Attempt
	events      []jobs.Event // of the attempt
	cancelledBy string       // who cancelled the job
	now         time.Time
	lane        Lane
	notes       []string
	last        time.Time // the end of the last span
}

func (l *laneOf) make() (Lane, []string) {
	a := l.a
	l.lane = Lane{Attempt: a.Number, Provider: a.Provider, State: a.State, Winner: l.job.CompletedBy == a.Number}
	l.last = a.CreatedAt.Go()
	end := l.now
	if !a.State.Open() && !a.FinishedAt.IsZero() {
		end = a.FinishedAt.Go()
	}
	claimed := l.claimed()
	l.beforeTheCall(claimed, end)
	if !claimed.IsZero() {
		l.theCall(end)
	}
	l.along()
	l.finish()
	l.tooLate()
	slices.SortStableFunc(l.lane.Marks, func(m, n Mark) int { return m.At.Compare(n.At) })
	return l.lane, l.notes
}

// claimed is when a worker took the attempt; zero when none did, as far as the
// store knows.
func (l *laneOf) claimed() time.Time {
	if e := l.event("claim", string(jobs.AttemptRunning)); e != nil {
		return e.At.Go()
	}
	if !l.a.SentAt.IsZero() {
		return l.a.SentAt.Go()
	}
	if l.a.Fence > 0 {
		return l.a.CreatedAt.Go()
	}
	return time.Time{}
}

// event is the first line of the trail with a verb and where it led to.
func (l *laneOf) event(verb, to string) *jobs.Event {
	for i := range l.events {
		if e := &l.events[i]; e.Verb == verb && (to == "" || e.To == to) {
			return e
		}
	}
	return nil
}

// span goes on to a moment, from where the last one ended. A moment before that is
// another clock's: the span has no length, and the lane says so.
func (l *laneOf) span(kind Kind, to time.Time) {
	if to.Before(l.last) {
		l.note("Of attempt %d, %s would end before it began: two clocks disagree. It is drawn without length.", l.a.Number, kind)
		return
	}
	if to.Equal(l.last) {
		return
	}
	l.lane.Spans = append(l.lane.Spans, Span{Kind: kind, From: l.last, To: to})
	l.last = to
}

func (l *laneOf) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

func (l *laneOf) mark(sign Sign, at time.Time, text string) {
	l.lane.Marks = append(l.lane.Marks, Mark{Sign: sign, At: at, Text: payload.Line(text, mostText)})
}

// mostText is the most characters of a mark's text.
const mostText = 60

func (l *laneOf) beforeTheCall(claimed, end time.Time) {
	until := claimed
	if until.IsZero() {
		until = end
	}
	if start := l.a.NotBefore.Go(); !l.a.NotBefore.IsZero() && start.After(l.last) {
		if start.After(until) {
			start = until
		}
		l.span(Pause, start)
	}
	l.span(Queued, until)
	if claimed.IsZero() && l.a.State.Open() {
		l.open()
	}
}

// open says of the last span that it goes on.
func (l *laneOf) open() {
	if n := len(l.lane.Spans); n > 0 {
		l.lane.Spans[n-1].Open = true
	}
}

// theCall is what became of a call, from the claim on.
func (l *laneOf) theCall(end time.Time) {
	a, until := l.a, end
	if !a.UnknownAt.IsZero() {
		until = a.UnknownAt.Go()
	}
	if a.SentAt.IsZero() {
		l.span(Connecting, until)
	} else {
		sent := a.SentAt.Go()
		if sent.Before(l.last) && sent.After(l.last.Add(-clockSlack)) {
			sent = l.last
		}
		l.span(Connecting, sent)
		l.mark(Sent, sent, "sent")
		l.answering(until)
	}
	if !a.UnknownAt.IsZero() {
		l.mark(Suspected, until, l.why())
		l.span(Unknown, end)
	}
	if a.State.Open() {
		l.open()
	}
}

// why is why the attempt became unknown. Its own reason may be a later one.
func (l *laneOf) why() string {
	for _, verb := range []string{"suspect", "rewind"} {
		if e := l.event(verb, ""); e != nil && e.Reason != "" {
			return "unknown: " + Words(e.Reason)
		}
	}
	if l.a.State == jobs.AttemptUnknown && l.a.Reason != "" {
		return "unknown: " + Words(l.a.Reason)
	}
	return "unknown"
}

// answering is what was heard between the sending and a moment.
func (l *laneOf) answering(until time.Time) {
	silent := Waiting
	if e := l.event("suspect", ""); e != nil && (e.Reason == "timeout" || e.Reason == "deadline") {
		silent = Silence
	}
	first, last := l.heard(until)
	if first.IsZero() {
		l.span(silent, until)
		return
	}
	l.span(Waiting, first)
	if silent == Silence {
		l.span(Receiving, last)
		l.span(Silence, until)
		return
	}
	l.span(Receiving, until)
}

// heard is when the first and the last byte of an answer came, up to a moment, by
// the evidence. It is the worker's clock that says so; what does not fit between
// the store's times is left out.
func (l *laneOf) heard(until time.Time) (first, last time.Time) {
	var seen struct {
		First time.Time `json:"first_byte_at"`
		Last  time.Time `json:"last_byte_at"`
	}
	if json.Unmarshal(l.a.Evidence, &seen) != nil || seen.First.IsZero() {
		return time.Time{}, time.Time{}
	}
	if seen.Last.IsZero() {
		seen.Last = seen.First
	}
	if !l.a.UnknownAt.IsZero() && seen.First.After(until) {
		return time.Time{}, time.Time{} // the answer came when it was unknown already
	}
	first, last = nudge(seen.First, l.last, until), nudge(seen.Last, l.last, until)
	if first.IsZero() || last.IsZero() || last.Before(first) {
		l.note("Of attempt %d, the worker's times of the answer do not fit the store's: two clocks disagree. They are left out.", l.a.Number)
		return time.Time{}, time.Time{}
	}
	return first, last
}

// clockSlack is by how much the clocks of worker and store may differ without
// anybody having to know.
const clockSlack = 2 * time.Second

// nudge moves a moment of another clock between two of this one; zero when it is
// too far off.
func nudge(at, from, to time.Time) time.Time {
	at = at.UTC().Truncate(time.Millisecond)
	switch {
	case at.Before(from.Add(-clockSlack)) || at.After(to.Add(clockSlack)):
		return time.Time{}
	case at.Before(from):
		return from
	case at.After(to):
		return to
	}
	return at
}
