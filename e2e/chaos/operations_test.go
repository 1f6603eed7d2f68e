package chaos_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// never is the end of a call that nobody answered.
const never = math.MaxInt64

// operations puts a story into porcupine's words.
func (s *story) operations() []porcupine.Operation {
	all := scripts(s.Trail)
	var ops []porcupine.Operation
	add := func(o operation, from, to int64) {
		o.scripts = all
		ops = append(ops, porcupine.Operation{Input: o, Call: from, Return: to})
	}
	for k, lines := range all {
		at := lines[0].At.Go()
		from, to := at.Add(-slack).UnixNano(), at.Add(msec+slack).UnixNano()
		if lines.verb() == (verb{}) {
			add(operation{what: inside, script: k, result: s.effect(lines[0].Attempt)}, from, to)
			continue
		}
		add(operation{what: begin, script: k}, from, to)
		add(operation{what: end, script: k}, from, to)
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		switch {
		case c.ok():
			add(operation{what: telling, call: c}, c.Start.UnixNano(), c.End.UnixNano())
		case c.answered() && c.Status != http.StatusTooManyRequests:
			add(operation{what: refusing, call: c}, c.Start.UnixNano(), c.End.UnixNano())
		}
	}
	for _, c := range s.doings(all) {
		to := int64(never)
		if c.answered() {
			to = c.End.UnixNano()
		}
		add(operation{what: doing, call: c}, c.Start.UnixNano(), to)
	}
	inRows(ops)
	return ops
}

// doings are the calls that changed the job: those that were told so, and as many of
// those that were told nothing as there are lines left that somebody must have asked
// for. Of the same question asked several times and never answered, any may have left
// the line; whatever one of them can explain, the earliest can.
func (s *story) doings(all []script) []*call {
	left := map[verb]int{}
	for _, lines := range all {
		left[lines.verb()]++
	}
	var did, silent []*call
	for i := range s.Calls {
		c := &s.Calls[i]
		switch {
		case c.verb() == (verb{}):
		case c.ok() && !c.Replayed:
			did = append(did, c)
			left[c.verb()]--
		case !c.answered():
			silent = append(silent, c)
		}
	}
	slices.SortFunc(silent, func(a, b *call) int { return a.Start.Compare(b.Start) })
	for _, c := range silent {
		// A submission of another body made nothing if the job is not of that body.
		if left[c.verb()] > 0 && (c.verb().name != "submit" || s.intended(*c)) {
			did = append(did, c)
			left[c.verb()]--
		}
	}
	return did
}

// inRows puts operations that overlap into rows of their own, for the picture.
func inRows(ops []porcupine.Operation) {
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int { return int(min(1, max(-1, a.Call-b.Call))) })
	var free []int64 // when each row is
	for i := range ops {
		row := slices.IndexFunc(free, func(at int64) bool { return at < ops[i].Call })
		if row < 0 {
			row, free = len(free), append(free, 0)
		}
		ops[i].ClientId, free[row] = row, ops[i].Return
	}
}

// decideTime bounds the search in one history. It is over in microseconds where the
// history is sound.
const decideTime = 20 * time.Second

// linear says whether the history is linearizable, and draws it into a file of the
// folder where it is not; without a folder it does not draw.
func (s *story) linear(found *findings, pictures, name string) {
	ops := s.operations()
	if porcupine.CheckOperationsTimeout(model, ops, decideTime) == porcupine.Ok {
		return
	}
	if pictures == "" {
		found.say("LINEAR", "the history is not linearizable")
		return
	}
	result, info := porcupine.CheckOperationsVerbose(model, ops, decideTime)
	found.say("LINEAR", "the history is %s; picture: %s", result, s.draw(info, pictures, name))
}

func (s *story) draw(info porcupine.LinearizationInfo, folder, name string) string {
	var notes []porcupine.Annotation
	for _, e := range s.Ledger {
		notes = append(notes, porcupine.Annotation{
			Tag: "ledger", Start: e.At.UnixNano(), Description: e.Kind + " " + e.Mode, Details: fmt.Sprintf("%+v", e),
		})
	}
	for _, c := range s.Calls {
		if !c.answered() {
			notes = append(notes, porcupine.Annotation{
				Tag: "not answered", Start: c.Start.UnixNano(), End: c.End.UnixNano(), Description: c.Kind, Details: c.String(),
			})
		}
	}
	info.AddAnnotations(notes)
	picture := filepath.Join(folder, name+".html")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err.Error()
	}
	if err := porcupine.VisualizePath(model, info, picture); err != nil {
		return err.Error()
	}
	return picture
}
