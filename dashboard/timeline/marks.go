package timeline

import (
	"fmt"
	"strings"

	"onejob/jobs"
)

// along marks what happened while the attempt was open.
func (l *laneOf) along() {
	for _, e := range l.events {
		switch e.Verb {
		case "look":
			l.mark(Looked, e.At.Go(), "looked up: "+e.Reason)
		case "hold":
			l.mark(Held, e.At.Go(), "held: "+e.Reason)
		case "wait":
			l.mark(Noted, e.At.Go(), "left to wait by "+e.Actor)
		}
	}
	if look := l.a.Lookup; look != nil && l.event("look", "") == nil {
		l.mark(Looked, look.At.Go(), fmt.Sprintf("looked up %s: %s", times(look.Times), look.Said))
	}
}

// finish marks how the attempt ended.
func (l *laneOf) finish() {
	a := l.a
	if a.State.Open() || a.FinishedAt.IsZero() {
		return
	}
	at, by := a.FinishedAt.Go(), l.decidedBy()
	switch a.State {
	case jobs.AttemptSucceeded:
		text := "answer: won"
		if by != "" {
			text = "declared succeeded by " + by
		} else if l.afterUnknown() {
			text = "late answer, still in time: won"
		}
		l.mark(Won, at, text)
	case jobs.AttemptFailed:
		text := "a definite no: " + Words(a.Reason)
		if by != "" {
			text = "declared failed by " + by
		}
		l.mark(Refused, at, text)
	case jobs.AttemptCancelled:
		l.mark(Cancelled, at, l.cancelled(by))
	case jobs.AttemptDiscarded:
		if e := l.event("late_result_discarded", string(jobs.AttemptDiscarded)); e != nil && e.From != e.To {
			return // tooLate tells it
		}
		l.mark(Lost, at, fmt.Sprintf("shut out: attempt %d won", l.job.CompletedBy))
	default:
	}
}

func (l *laneOf) afterUnknown() bool {
	e := l.event("finalize", "")
	return e != nil && e.From == string(jobs.AttemptUnknown)
}

// decidedBy is the person who settled the attempt; empty when nobody did.
func (l *laneOf) decidedBy() string {
	if e := l.event("resolve", string(l.a.State)); e != nil {
		return e.Actor
	}
	return ""
}

func (l *laneOf) cancelled(by string) string {
	switch {
	case by != "":
		return "cancelled by " + by
	case l.a.Reason == "job_cancelled" && l.cancelledBy != "":
		return "job cancelled by " + l.cancelledBy
	case l.a.Reason == "start_expired":
		return "never started: its time was over"
	case l.a.Reason == "cancelled" || l.a.Reason == "":
		return "cancelled"
	}
	return "cancelled: " + Words(l.a.Reason)
}

// tooLate marks every outcome that had no say any more (I6).
func (l *laneOf) tooLate() {
	told := false
	for _, e := range l.events {
		if e.Verb == "late_result_discarded" {
			reason, _, _ := strings.Cut(e.Reason, " sha256:")
			l.mark(Late, e.At.Go(), "late answer, discarded: "+Words(reason))
			told = true
		}
	}
	if late := l.a.LateResult; late != nil && !told {
		l.mark(Late, late.At.Go(), "late answer, discarded: "+Words(late.Reason))
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
