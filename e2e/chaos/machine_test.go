package chaos_test

import (
	"slices"

	"onejob/jobs"
)

// record is one job as design §2 says it is after the scripts that ran, told again
// from the lines of the trail: the second opinion on the scripts in lua.
type record struct {
	State    jobs.State // empty: there is no job
	Version  int64
	Winner   int
	Attempts []toldAttempt
}

// breach is a rule of design §2 that a line breaks.
type breach struct{ rule, what string }

// after is the record after a script, and the rules it broke. What cannot have happened
// is left out of the record, so that one wrong line is one finding.
func (r record) after(s script) (record, []breach) {
	r.Attempts = slices.Clone(r.Attempts)
	var broken []breach
	say := func(rule, what string) { broken = append(broken, breach{rule, what}) }
	was := r.State
	for _, line := range s {
		r.line(line, was, say)
	}
	r.settle()
	if r.State.Ended() && r.open(0) > 0 {
		say("I10", "an attempt is open beneath an ended job")
	}
	return r, broken
}

func (r *record) line(line jobs.Event, was jobs.State, say func(rule, what string)) {
	a := r.attempt(line.Attempt)
	switch {
	case line.Verb == "submit" || line.Verb == "open":
		r.opened(line, was, say)
	case line.Verb == "cancel" && was.Ended():
		say("I5", "an ended job was cancelled")
	case line.Verb == "cancel":
		r.Version++
		r.State = jobs.Cancelled
	case a == nil:
		say("TRAIL", line.Verb+" of an attempt that nobody opened")
	default:
		if rule, what := r.forbids(line, a, was); rule != "" {
			say(rule, what)
			return
		}
		r.move(line, a, say)
	}
}

func (r *record) opened(line jobs.Event, was jobs.State, say func(rule, what string)) {
	switch {
	case line.Verb == "submit" && was != "":
		say("I7", "the job was submitted a second time")
		return
	case was.Final():
		say("I5", "an attempt was opened beneath a final job")
		return
	case r.attempt(line.Attempt) != nil:
		say("I2", "the number of an attempt was used a second time")
		return
	case r.open(0) > 0:
		say("I4", "an attempt was opened while another was open")
	case line.Verb == "submit":
		r.Version = 1
	case was == jobs.Failed:
		r.Version++
	}
	r.Attempts = append(r.Attempts, toldAttempt{Number: line.Attempt, State: jobs.AttemptStarting})
}

// forbids is the rule that a line about an attempt breaks, if it breaks one.
func (r *record) forbids(line jobs.Event, a *toldAttempt, was jobs.State) (rule, what string) {
	from, to := jobs.AttemptState(line.From), jobs.AttemptState(line.To)
	heard := from == jobs.AttemptRunning || from == jobs.AttemptUnknown
	switch {
	case line.Verb == "rewind":
		return "I1", "the store went back in time, though it says that it does not"
	case line.Verb == "late_result_discarded" && from != to && to != jobs.AttemptDiscarded:
		return "I6", "a late outcome was applied"
	case from != to && !a.State.Open():
		return "I5", line.Verb + " of an attempt that is " + string(a.State)
	case from != a.State && to != "":
		return "TRAIL", line.Verb + " of an attempt that is " + line.From + ", but it is " + string(a.State)
	case line.Verb == "claim" && (from != jobs.AttemptStarting || was.Ended()):
		return "I2", "an attempt was claimed that was " + line.From
	case (line.Verb == "finalize" || line.Verb == "fail") && !heard:
		return "I2", "an attempt ended that was " + line.From
	case line.Verb == "resolve" && to != jobs.AttemptCancelled && from != jobs.AttemptUnknown:
		return "I5", "an attempt was resolved that was " + line.From
	case line.Verb == "suspect" && from != jobs.AttemptRunning:
		return "TRAIL", "an attempt was suspected that was " + line.From
	case from != to && !slices.Contains(moving, line.Verb):
		return "TRAIL", line.Verb + " moved an attempt"
	}
	return "", ""
}

// moving are the verbs that may move an attempt; all others leave a note.
var moving = []string{"claim", "suspect", "finalize", "fail", "resolve", "late_result_discarded", "close", "expire_start"}

// move does to the job what the line says.
func (r *record) move(line jobs.Event, a *toldAttempt, say func(rule, what string)) {
	if a.State = jobs.AttemptState(line.To); line.To == "" {
		a.State = jobs.AttemptState(line.From)
	}
	switch line.Verb {
	case "claim":
		if a.State == jobs.AttemptRunning {
			a.Fence = r.Version
		}
	case "finalize", "fail":
		if a.Fence != r.Version {
			say("I6", "an outcome was applied that was late: the version had moved on")
		}
	case "resolve":
		if a.State != jobs.AttemptSucceeded && r.open(a.Number) == 0 {
			r.Version++
		}
	}
	if a.State != jobs.AttemptSucceeded || line.From == line.To {
		return
	}
	if r.Winner != 0 {
		say("I3", "a second attempt took the slot")
	}
	r.Winner = a.Number
	r.Version++
}

// settle is the state the attempts make (design §2).
func (r *record) settle() {
	has := func(state jobs.AttemptState) bool {
		return slices.ContainsFunc(r.Attempts, func(a toldAttempt) bool { return a.State == state })
	}
	switch {
	case r.State.Final():
	case r.Winner != 0:
		r.State = jobs.Succeeded
	case has(jobs.AttemptRunning):
		r.State = jobs.Running
	case has(jobs.AttemptStarting):
		r.State = jobs.Queued
	case has(jobs.AttemptUnknown):
		r.State = jobs.Unknown
	default:
		r.State = jobs.Failed
	}
}

// open counts the open attempts but one.
func (r *record) open(but int) int {
	n := 0
	for _, a := range r.Attempts {
		if a.Number != but && a.State.Open() {
			n++
		}
	}
	return n
}

func (r *record) attempt(n int) *toldAttempt {
	for i := range r.Attempts {
		if r.Attempts[i].Number == n {
			return &r.Attempts[i]
		}
	}
	return nil
}
