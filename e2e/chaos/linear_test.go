package chaos_test

import (
	"net/http"
	"slices"

	"onejob/jobs"

	"github.com/anishathalye/porcupine"
)

// The history of one job, in porcupine's words. Its operations are
//
//   - the scripts that nobody outside asked for (claim, suspect, finalize, fail, …), at
//     the time the trail has for them: Redis's clock, whole milliseconds;
//   - the calls that changed the job (submit, resolve, cancel, open), somewhere between
//     question and answer, and between begin and end of the line they left in the trail:
//     which call left which line is porcupine's to find. A call that nobody answered has
//     no end: it may take effect at any later time;
//   - what every answer told: the whole record as it was at one moment between question
//     and answer, or why the call was refused.
//
// The model takes the scripts in the order of their ids, so the order the store claims
// to have done things in must be one that all callers could have seen.
type operation struct {
	what    part
	script  int // number of the script: inside, begin, end
	scripts []script
	call    *call
	result  string // of a script that takes the slot: inside
}

type part string

const (
	inside   part = "script" // a whole script that nobody outside asked for
	begin    part = "begin"  // a script that a call asked for: its line …
	doing    part = "does"   // … the call …
	end      part = "end"    // … and the end of the line
	telling  part = "told"
	refusing part = "refused"
)

// moment is the state of the model: the record, and how far the scripts have come.
type moment struct {
	record
	scripts  int
	stage    part  // begin: a call must come now; doing: its script must end
	revision int64 // at least
	id       string
	intent   string // the input it was submitted with
	result   string
}

var model = porcupine.Model{
	Init:              func() any { return moment{stage: end} },
	Step:              func(state, input, _ any) (bool, any) { return state.(moment).step(input.(operation)) },
	Equal:             func(a, b any) bool { return a.(moment).same(b.(moment)) },
	DescribeOperation: func(input, _ any) string { return input.(operation).String() },
	DescribeState:     func(state any) string { return state.(moment).String() },
}

// same: what else there is follows from these.
func (m moment) same(o moment) bool {
	return m.scripts == o.scripts && m.stage == o.stage && m.revision == o.revision && m.id == o.id && m.result == o.result
}

// step tells whether the operation may happen now, and what is then.
func (m moment) step(o operation) (bool, any) {
	switch o.what {
	case inside:
		if m.stage != end || m.scripts != o.script {
			return false, m
		}
		return m.run(o.scripts[o.script], o.result)
	case begin:
		if m.stage != end || m.scripts != o.script {
			return false, m
		}
		m.stage = begin
		return true, m
	case end:
		if m.stage != doing || m.scripts != o.script+1 {
			return false, m
		}
		m.stage = end
		return true, m
	case doing:
		return m.do(o)
	case telling:
		return m.tell(o.call)
	}
	return m.stage == end && m.refuses(o.call), m
}

// run is a whole script: what breaks a rule of design §2 cannot happen.
func (m moment) run(s script, result string) (bool, any) {
	after, broken := m.record.after(s)
	if after.Winner != m.Winner {
		m.result = result
	}
	m.record = after
	m.scripts++
	m.revision++
	return len(broken) == 0, m
}

// do is what a call changes. It must be what the script did that has begun.
func (m moment) do(o operation) (bool, any) {
	c := o.call
	if m.stage != begin || o.scripts[m.scripts].verb() != c.verb() || c.IfMatch != 0 && c.IfMatch != m.Version {
		return false, m
	}
	_, result := c.decision()
	ok, after := m.run(o.scripts[m.scripts], result)
	m = after.(moment)
	m.stage = doing
	if c.verb().name == "submit" {
		m.intent, m.id = input(c.Body), c.Job.ID
	}
	return ok, m
}

// tell is an answer with the job in it. The revision rises with every write: an answer
// with a lower one than was seen before is old.
func (m moment) tell(c *call) (bool, any) {
	t := &c.Job
	if c.verb().name == "submit" && !sameJSON(input(c.Body), m.intent) {
		return false, m // I8
	}
	if m.stage != end || m.State == "" || m.id != "" && t.ID != m.id || t.Revision < m.revision ||
		t.State != m.State || t.Version != m.Version || t.CompletedBy != m.Winner || t.Result != m.result ||
		!slices.Equal(t.Attempts, m.Attempts) {
		return false, m
	}
	m.id, m.revision = t.ID, t.Revision
	return true, m
}

// refuses tells whether the call would be refused now as it was (design §7).
func (m moment) refuses(c *call) bool {
	if c.Status == http.StatusNotFound {
		return m.State == ""
	}
	if m.State == "" || c.Problem.Job != "" && m.id != "" && c.Problem.Job != m.id {
		return false
	}
	a := m.attempt(c.verb().attempt)
	switch c.Problem.Name {
	case "version-mismatch":
		return c.IfMatch != 0 && c.IfMatch != m.Version && c.Problem.Version == m.Version
	case "idempotency-key-reused":
		return c.verb().name == "submit" && !sameJSON(input(c.Body), m.intent)
	case "job-final":
		return c.verb().name == "cancel" && m.State.Ended() || c.verb().name == "open" && m.State.Final()
	case "attempt-unresolved":
		return c.verb().name == "open" && m.open(0) > 0
	case "attempt-settled":
		return a != nil && !a.State.Open()
	case "attempt-not-unknown":
		return a != nil && a.State.Open() && a.State != jobs.AttemptUnknown && c.verb().to != string(jobs.AttemptCancelled)
	}
	return false
}
