package consequence

import (
	"fmt"

	"onejob/jobs"
)

// said is what a look-up says of a provider that is at work (recovery).
const said = "running"

// SettlesItself tells whether an unknown job may still be settled without a person:
// it is listened to, or looked up at its provider.
func SettlesItself(job *jobs.Job) bool {
	b := job.BlockedBy
	return b != nil && (!b.ListeningUntil.IsZero() || !b.NextLookupAt.IsZero())
}

func (w *writer) wait() {
	w.does("Nothing is called and nothing changes. The trail gets a line: you looked at attempt %d and chose to wait, with your reason.", w.a.Number)
	if !SettlesItself(w.Job) {
		w.risks(Some, "Nobody listens for this answer any more and nobody looks it up: the job stays unknown until a person decides. Whoever submitted it goes on waiting.")
		w.Button = "Leave it unknown"
		return
	}
	w.hopes(w.does)
	w.Button = "Wait"
}

func (w *writer) succeed() {
	w.does("Attempt %d is declared succeeded and wins: what you entered becomes the result of the job, for good.", w.a.Number)
	w.does("The job ends as succeeded, at version %d. Whoever waits for it is answered with your result.", w.Job.Version+1)
	w.does("Should the provider's own answer come later, it is discarded and logged, not used.")
	if others := w.others(); len(others) > 0 {
		w.does("What is still open, %s, is shut out, and the provider is asked to cancel.", numbers(others))
	}
	w.risks(Twice, "Only the output rules of the route look at your result. If the provider did not do the work, the job says for ever that it was done.")
	w.stillHoped()
	w.Button = fmt.Sprintf("Yes, attempt %d succeeded", w.a.Number)
}

func (w *writer) fail() {
	w.does("Attempt %d is declared failed.", w.a.Number)
	w.after("resolved_failed")
	w.does("Should an answer of attempt %d come later, it is discarded and logged, not used.", w.a.Number)
	w.second(w.a)
	w.stillHoped()
	w.Button = fmt.Sprintf("Yes, attempt %d failed", w.a.Number)
	if w.Continue {
		w.Button += ", go on"
	}
}

func (w *writer) cancelAttempt() {
	w.Button = fmt.Sprintf("Yes, cancel attempt %d", w.a.Number)
	if w.Continue {
		w.Button += ", go on"
	}
	if w.a.State == jobs.AttemptStarting {
		w.does("Attempt %d is cancelled. It has not been sent, and will not be.", w.a.Number)
		w.after("attempt_cancelled")
		return
	}
	w.does("Attempt %d is cancelled, and its provider is asked to cancel the work, where it can be asked.", w.a.Number)
	w.after("attempt_cancelled")
	w.does("A call that is under way is listened to until its deadline; what comes is discarded and logged, not used.")
	w.noUndo()
	w.second(w.a)
	w.stillHoped()
}

func (w *writer) cancelJob() {
	w.does("The job ends as cancelled, at version %d, for good: it cannot be retried, and its key answers with this cancelled job.", w.Job.Version+1)
	w.Button = "Yes, cancel the job"
	var sent []*jobs.Attempt
	for _, a := range w.others() {
		if a.State == jobs.AttemptStarting {
			w.does("Attempt %d has not been sent, and will not be.", a.Number)
			continue
		}
		w.does("Attempt %d, which is %s, is cancelled, and its provider is asked to cancel the work, where it can be asked.", a.Number, a.State)
		sent = append(sent, a)
	}
	if len(sent) == 0 {
		return
	}
	w.does("Whatever still comes is discarded and logged, not used.")
	w.noUndo()
	if !w.Harmless {
		w.risks(Twice, "If the same work is submitted again with a new key, it may happen twice.")
	}
	for _, a := range sent {
		w.a = a
		w.stillHoped()
	}
}

func (w *writer) retry() {
	provider := w.Provider
	if provider == "" {
		provider = w.Job.Provider
	}
	next := 0
	for _, a := range w.Job.Attempts {
		next = max(next, a.Number)
	}
	w.does("Attempt %d opens at %s, and is sent as soon as a worker takes it: one call.", next+1, provider)
	w.does("The job is queued again, at version %d; what is still on its way of earlier attempts finds the door shut.", w.Job.Version+1)
	w.Button = fmt.Sprintf("Yes, open attempt %d", next+1)
	var may []*jobs.Attempt
	for i := range w.Job.Attempts {
		if a := &w.Job.Attempts[i]; a.Effect != "none" {
			may = append(may, a)
		}
	}
	switch {
	case len(may) == 0:
		w.does("No attempt so far had an effect, so nothing can happen twice.")
	case w.Harmless:
		w.risks(Some, "The route declares that its calls change nothing: what a further call costs is its price.")
	default:
		w.risks(Twice, "The work may be done twice, for it is not certain that %s had no effect: you could be charged twice.", numbers(may))
	}
}

// after says what becomes of the job when an attempt is settled without a result.
func (w *writer) after(code string) {
	if others := w.others(); len(others) > 0 {
		w.does("The job goes on with %s, which may still win; its version stays %d.", numbers(others), w.Job.Version)
		return
	}
	if w.Continue {
		w.does("The route's plan goes on as after a failure that may be retried, at version %d: the next attempt opens by itself, or, when the plan is spent, the job fails.", w.Job.Version+1)
		return
	}
	w.does("The job fails (%s), at version %d. Nothing else is called by itself; it can be retried.", code, w.Job.Version+1)
}

// second is the risk that the work is done again.
func (w *writer) second(a *jobs.Attempt) {
	switch {
	case a.Effect == "none":
	case w.Harmless:
		w.risks(Some, "The route declares that its calls change nothing: what can be lost is the answer, and the price of another call.")
	case w.Continue:
		w.risks(Twice, "If the provider did the work of attempt %d after all, the next attempt does it a second time, without asking you again: you could be charged twice.", a.Number)
	default:
		w.risks(Twice, "If the provider did the work of attempt %d after all, a next attempt does it a second time: you could be charged twice. Find out at the provider first.", a.Number)
	}
}

func (w *writer) noUndo() {
	w.risks(Some, "A cancel is no undo: what the provider has done stays done, and may be charged.")
}

// stillHoped adds what speaks against deciding now.
func (w *writer) stillHoped() {
	if w.a.State != jobs.AttemptUnknown {
		return
	}
	w.hopes(func(format string, args ...any) { w.risks(Some, format, args...) })
}

// hopes says how the attempt may still settle by itself.
func (w *writer) hopes(say func(format string, args ...any)) {
	b := w.Job.BlockedBy
	if b == nil || b.Attempt != w.a.Number {
		return
	}
	if !b.ListeningUntil.IsZero() {
		say("Its call is still listened to until %s: the answer may come by itself.", w.when(b.ListeningUntil))
	}
	look := w.a.Lookup
	switch {
	case look != nil && look.Said == said:
		say("The latest look-up, at %s, found the provider at work on it: the answer will very likely come.", w.when(look.At))
	case look != nil && !b.NextLookupAt.IsZero():
		say("The latest look-up, at %s, settled nothing; the provider is asked again at %s.", w.when(look.At), w.when(b.NextLookupAt))
	case !b.NextLookupAt.IsZero():
		say("The provider is asked at %s what became of it.", w.when(b.NextLookupAt))
	}
}
