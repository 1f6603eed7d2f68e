package chaos_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// record is what the model knows of one job: the lines of the trail that took effect,
// the job's state and version.
type record struct {
	line    int
	state   string
	version int64
}

// step is a line of the trail, or something a caller was told.
type step struct {
	line  int    // of the trail; 0: told
	told  string // the kind of call
	after record // the record after the line; what the caller was told
}

// model says: the lines take effect in their order, each within its moment, and every
// answer is the record at some moment between the question and the answer.
var model = porcupine.Model{
	Init: func() any { return record{} },
	Step: func(state, input, _ any) (bool, any) {
		now, s := state.(record), input.(step)
		if s.line > 0 {
			return now.line == s.line-1, s.after
		}
		return now.line > 0 && now.state == s.after.state, state
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}

// slack is how far Redis's clock, in whole milliseconds, may be from the callers'.
const slack = 5 * time.Millisecond

// operations puts a story into porcupine's words. Lines written by one script have one
// time, and only what the last of them leaves can be seen. A call nobody answered says
// nothing; if it took effect, its line is in the trail.
func (s *story) operations() []porcupine.Operation {
	var ops []porcupine.Operation
	states, cancelled := map[int]string{}, false
	for i, e := range s.Trail {
		if e.Attempt > 0 && e.To != "" {
			states[e.Attempt] = e.To
		}
		if e.Attempt == 0 && e.To == "starting" || e.Verb == "submit" {
			states[1] = "starting"
		}
		cancelled = cancelled || e.Verb == "cancel"
		at := e.At.Go()
		ops = append(ops, porcupine.Operation{
			ClientId: 0, Input: step{line: i + 1, after: record{line: i + 1, state: jobState(states, cancelled)}},
			Call: at.Add(-slack).UnixNano(), Return: at.Add(slack).UnixNano(),
		})
	}
	for i, c := range s.Calls {
		if c.Status == 0 || c.Status >= 300 || c.Job.ID == "" {
			continue
		}
		ops = append(ops, porcupine.Operation{
			ClientId: 1 + i, Input: step{told: c.Kind, after: record{state: string(c.Job.State)}},
			Call: c.Start.UnixNano(), Return: c.End.UnixNano(),
		})
	}
	return ops
}

// jobState is what the attempts say (design §2).
func jobState(states map[int]string, cancelled bool) string {
	all := slices.Collect(maps.Values(states))
	switch {
	case cancelled:
		return string(jobs.Cancelled)
	case slices.Contains(all, "succeeded"):
		return string(jobs.Succeeded)
	case slices.Contains(all, "running"):
		return string(jobs.Running)
	case slices.Contains(all, "starting"):
		return string(jobs.Queued)
	case slices.Contains(all, "unknown"):
		return string(jobs.Unknown)
	}
	return string(jobs.Failed)
}

// linear tells whether a story is linearizable, and draws it where it is not.
func (s *story) linear(picture string) (porcupine.CheckResult, error) {
	result, info := porcupine.CheckOperationsVerbose(model, s.operations(), 20*time.Second)
	if result == porcupine.Illegal {
		return result, porcupine.VisualizePath(model, info, picture)
	}
	return result, nil
}

func TestLinear_FindsAStaleRead(t *testing.T) {
	t.Parallel()
	began := time.UnixMilli(time.Now().UnixMilli())
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	s := &story{
		Trail: []jobs.Event{
			{Verb: "submit", Attempt: 1, To: "starting", At: jobs.Time(at(0).UnixMilli())},
			{Verb: "claim", Attempt: 1, To: "running", At: jobs.Time(at(100).UnixMilli())},
			{Verb: "finalize", Attempt: 1, To: "succeeded", At: jobs.Time(at(200).UnixMilli())},
		},
		Calls: []call{{Kind: "get", Status: 200, Start: at(90), End: at(150), Job: told{ID: "j", State: jobs.Running}}},
	}
	result, err := s.linear(t.TempDir() + "/picture.html")
	require.NoError(t, err)
	require.Equal(t, porcupine.Ok, result)
	s.Calls[0].Start, s.Calls[0].End = at(250), at(300)
	picture := t.TempDir() + "/picture.html"
	result, err = s.linear(picture)
	require.NoError(t, err)
	require.Equal(t, porcupine.Illegal, result)
	require.FileExists(t, picture)
}
