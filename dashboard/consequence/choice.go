// Package consequence says what a decision about a job would do, and what it would
// risk, before it is made. The words for people are all here.
//
// It reads the record as it was shown. What is allowed is decided by the store when
// the decision reaches it (design §2); what this package calls refused is what the
// store would say of the record as it was read.
package consequence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"onejob/dashboard/timeline"
	"onejob/jobs"
)

// Action is a decision a person can make.
type Action string

// Actions.
const (
	Wait          Action = "wait"           // leave an unknown attempt alone, and say so on the trail
	Succeed       Action = "succeed"        // an unknown attempt succeeded, with this result
	Fail          Action = "fail"           // an unknown attempt failed
	CancelAttempt Action = "cancel-attempt" // an open attempt is given up
	CancelJob     Action = "cancel"         // the job is ended for good
	Retry         Action = "retry"          // another attempt of a failed job
)

// Actions lists every action, the most careful first.
var Actions = []Action{Wait, Succeed, Fail, CancelAttempt, CancelJob, Retry}

// OnAttempt tells whether the action is about one attempt.
func (a Action) OnAttempt() bool { return a != CancelJob && a != Retry }

// Choice is a decision about a job as it was read.
type Choice struct {
	Action  Action
	Job     *jobs.Job
	Attempt int // of an action on one
	// Continue: with Fail and CancelAttempt, go on by the route's plan.
	Continue bool
	// Provider of Retry; empty: the latest attempt's.
	Provider string
	// Harmless: the route declares effects: none.
	Harmless bool
	Now      time.Time
}

// Grade is how much a decision risks.
type Grade string

// Grades.
const (
	Nothing Grade = "nothing" // nothing can be lost
	Some    Grade = "some"    // an answer or the price of a call can be lost
	Twice   Grade = "twice"   // something may happen twice, or be believed that did not happen
)

// Consequence is what a decision would do.
type Consequence struct {
	Title   string   // what is decided
	Does    []string // what happens, in whole sentences
	Risks   []string // what may go wrong, the worst first; empty: nothing
	Grade   Grade
	Button  string // of the confirmation
	Refused string // why the store would refuse; empty: it would not
}

// Of says what a choice would do. An action nobody knows is refused.
func Of(c Choice) Consequence {
	w := writer{Choice: c, a: c.Job.Attempt(c.Attempt)}
	w.Grade = Nothing
	if w.Refused = w.refused(); w.Refused != "" {
		w.Title = w.title()
		return w.Consequence
	}
	w.Title = w.title()
	switch c.Action {
	case Wait:
		w.wait()
	case Succeed:
		w.succeed()
	case Fail:
		w.fail()
	case CancelAttempt:
		w.cancelAttempt()
	case CancelJob:
		w.cancelJob()
	case Retry:
		w.retry()
	}
	return w.Consequence
}

// writer writes one consequence.
type writer struct {
	Consequence
	Choice
	a *jobs.Attempt // nil when the choice is about none
}

func (w *writer) does(format string, args ...any) {
	w.Does = append(w.Does, fmt.Sprintf(format, args...))
}

// risks adds a risk; the grade is the worst of them.
func (w *writer) risks(g Grade, format string, args ...any) {
	risk := fmt.Sprintf(format, args...)
	if g == Twice && w.Grade != Twice {
		w.Risks = slices.Insert(w.Risks, 0, risk)
	} else {
		w.Risks = append(w.Risks, risk)
	}
	if g == Twice || w.Grade == Nothing {
		w.Grade = g
	}
}

// refused is why the store would refuse the choice (the guards of lua/resolve.lua,
// cancel.lua and open.lua, as far as a record tells).
func (w *writer) refused() string {
	switch w.Action {
	case CancelJob:
		if w.Job.State.Ended() {
			return fmt.Sprintf("The job has ended: it is %s.", w.Job.State)
		}
		return ""
	case Retry:
		return w.whyNoRetry()
	case Wait, Succeed, Fail, CancelAttempt:
	default:
		return fmt.Sprintf("%q is nothing that can be done.", w.Action)
	}
	switch {
	case w.a == nil:
		return fmt.Sprintf("The job has no attempt %d.", w.Attempt)
	case !w.a.State.Open():
		return fmt.Sprintf("Attempt %d is settled already: it is %s.", w.a.Number, w.a.State)
	case w.Action != CancelAttempt && w.a.State != jobs.AttemptUnknown:
		return fmt.Sprintf("Attempt %d is %s. Only of an unknown attempt can a person say how it ended; a %s one can be waited for, or cancelled.",
			w.a.Number, w.a.State, w.a.State)
	}
	return ""
}

// whyNoRetry tells why no attempt can be opened, by what the record says itself
// (jobs.Next).
func (w *writer) whyNoRetry() string {
	if w.Job.Next != nil && w.Job.Next.Allowed {
		return ""
	}
	switch w.Job.State {
	case jobs.Succeeded:
		return "The job succeeded: it has its result, and there is nothing to try again."
	case jobs.Cancelled:
		return "The job was cancelled, for good. Submit it again with a new key."
	default:
	}
	if b := w.Job.BlockedBy; b != nil {
		return fmt.Sprintf("Attempt %d is %s. No other attempt opens while one is not settled.", b.Attempt, b.State)
	}
	return "Another attempt is not settled yet."
}

func (w *writer) title() string {
	n := w.Attempt
	switch w.Action {
	case Wait:
		return fmt.Sprintf("Wait for attempt %d", n)
	case Succeed:
		return fmt.Sprintf("Declare attempt %d succeeded", n)
	case Fail:
		if w.Continue {
			return fmt.Sprintf("Declare attempt %d failed and go on", n)
		}
		return fmt.Sprintf("Declare attempt %d failed", n)
	case CancelAttempt:
		if w.Continue {
			return fmt.Sprintf("Cancel attempt %d and go on", n)
		}
		return fmt.Sprintf("Cancel attempt %d", n)
	case CancelJob:
		return "Cancel the job"
	case Retry:
		return "Open another attempt"
	}
	return "Nothing"
}

// others are the attempts that are open besides the one decided about.
func (w *writer) others() []*jobs.Attempt {
	var others []*jobs.Attempt
	for i := range w.Job.Attempts {
		if a := &w.Job.Attempts[i]; a.State.Open() && a != w.a {
			others = append(others, a)
		}
	}
	return others
}

// numbers writes "attempt 2" or "attempts 2 and 3".
func numbers(attempts []*jobs.Attempt) string {
	var list []string
	for _, a := range attempts {
		list = append(list, fmt.Sprint(a.Number))
	}
	if len(list) == 1 {
		return "attempt " + list[0]
	}
	return "attempts " + strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// when writes a moment to come or gone, as the pages do.
func (w *writer) when(t jobs.Time) string {
	d := t.Go().Sub(w.Now)
	if d >= 0 {
		return fmt.Sprintf("%s UTC (in %s)", t.Go().Format("15:04:05"), timeline.Took(d.Round(time.Second)))
	}
	return fmt.Sprintf("%s UTC (%s ago)", t.Go().Format("15:04:05"), timeline.Took((-d).Round(time.Second)))
}
