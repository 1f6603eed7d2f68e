package chaos_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"onejob/jobs"

	"github.com/stretchr/testify/require"
)

var soundStories = map[string]func() *story{
	"printed": printed, "cancelled": cancelled, "resolved": resolved, "reopened": reopened,
	"given up": givenUp, "rejected": rejected, "shut out": shutOut,
}

func TestChecker_LetsSoundStoriesPass(t *testing.T) {
	t.Parallel()
	for name, tell := range soundStories {
		s := tell()
		found := s.wrong()
		s.linear(&found, t.TempDir(), name)
		require.Empty(t, found, "%s\n%s", name, s)
		s.Calm = name != "printed" && name != "resolved" // in those something was unknown
		require.Empty(t, s.wrong(), "%s, calm", name)
	}
}

// forgery is one thing made wrong in a sound story, and the invariant it breaks.
type forgery struct {
	rules, what string // exactly these invariants; few things can go wrong in one way only
	of          func() *story
	harm        func(*story)
}

// rules are the names in findings, each once.
func (f findings) rules() []string {
	var names []string
	for _, one := range f {
		names = append(names, one.rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Every invariant is broken in every way a check speaks of, one at a time, and found by
// its name, and by that alone.
func TestChecker_FindsEachForgery(t *testing.T) {
	t.Parallel()
	for _, f := range slices.Concat(forgedAnswers, forgedEffects, forgedTrails) {
		t.Run(f.rules+" "+f.what, func(t *testing.T) {
			t.Parallel()
			s := f.of()
			f.harm(s)
			found := s.wrong()
			require.Equal(t, f.rules, strings.Join(found.rules(), " "), "%v", found)
		})
	}
}

var forgedAnswers = []forgery{
	{"I1", "the job is gone", printed, func(s *story) { s.Gone = true }},
	{"I1", "a 404 after the acknowledgement", printed, func(s *story) { s.answer(2, 404, "not-found") }},
	{"I1", "a 410 for the same body", printed, func(s *story) { s.answer(6, 410, "idempotency-key-expired") }},
	{"I1", "the list does not have it", printed, func(s *story) { s.Listed = []string{} }},
	{"I3", "an answer with another result", printed, func(s *story) { s.Calls[6].Job.Result = resultJSON("sheet-7") }},
	{"I3", "an answer without the result", printed, func(s *story) { s.Calls[6].Job.Result = "" }},
	{"I3", "a result before there is one", printed, func(s *story) { s.Calls[2].Job.Result = resultJSON("sheet-2") }},
	{"I3", "an answer with another winner", printed, func(s *story) { s.Calls[6].Job.CompletedBy = 1 }},
	{"I4", "an answer with two open attempts", printed, func(s *story) {
		s.Calls[4].Job.Attempts = []toldAttempt{{1, jobs.AttemptUnknown, 1}, {2, jobs.AttemptRunning, 1}}
	}},
	{"I5", "a final job changed back", cancelled, func(s *story) {
		s.Calls[2].Job.State, s.Calls[2].Job.CompletedBy = jobs.Succeeded, 1
		s.Calls[2].Job.Attempts = []toldAttempt{{1, jobs.AttemptSucceeded, 1}}
		s.Calls[2].Job.Result = resultJSON("sheet-1")
	}},
	{"I5", "a final job changed back, and its attempts did not", givenUp, func(s *story) { s.Calls[1].Job.State = jobs.Cancelled }},
	{"I5", "a terminal attempt changed back", printed, func(s *story) { s.Calls[2].Job.Attempts[0].State = jobs.AttemptDiscarded }},
	{"I5", "an attempt is not there any more", printed, func(s *story) {
		s.Calls[2].Job.Attempts = append(s.Calls[2].Job.Attempts, toldAttempt{3, jobs.AttemptFailed, 1})
	}},
	{"I7", "one key, two jobs", printed, func(s *story) { s.Calls[1].Job.ID = "job_2" }},
	{"I7", "a refusal names another job", printed, func(s *story) { s.Calls[3].Problem.Job = "job_2" }},
	{"I7", "two submissions made it", printed, func(s *story) { s.Calls[1].Replayed = false }},
	{"I7", "the same body is a conflict", printed, func(s *story) { s.answer(6, 409, "idempotency-key-reused") }},
	{"I7", "the list has a second job", printed, func(s *story) { s.Listed = append(s.Listed, "job_2") }},
	{"I8", "another body is taken", printed, func(s *story) {
		s.Calls[3].Status, s.Calls[3].Job, s.Calls[3].Replayed = 202, s.Calls[2].Job, true
	}},
	{"I8", "another body is refused as something else", printed, func(s *story) { s.answer(3, 400, "request-invalid") }},
	{"I8", "the payload of another in an answer", printed, func(s *story) { s.Calls[2].Job.Input = `{"key":"dev.key-2","word":"a"}` }},
	{"I8", "the payload is the other body's", printed, func(s *story) {
		s.Job.Input = json.RawMessage(`{"key":"dev.key-1","word":"c"}`)
		for i := range s.Calls {
			s.Calls[i].Job.Input = string(s.Job.Input)
			if s.Calls[i].Kind == "submit" && i > 0 { // the rest of the story goes along
				s.Calls[i].Body = `{"input":{"key":"dev.key-1","word":"c"}}`
			}
		}
		s.Calls[0].Status = 0
	}},
	{"I8", "the job has another key", printed, func(s *story) { s.Job.IdempotencyKey = "key-2" }},
	{"I8", "the provider is given the payload of another", printed, func(s *story) { s.Ledger[1].Key = "other.key-1" }},
	{"I9", "a version goes down", printed, func(s *story) { s.Calls[4].Job.Version = 2 }},
	{"I9", "the last version is lower", printed, func(s *story) { s.Job.Version = 1 }},
	{"I9", "a decision did not raise the version", cancelled, func(s *story) {
		s.Job.Version = 1
		for i := range s.Calls {
			s.Calls[i].Job.Version = 1
		}
	}},
	{"I10", "an answer without an open attempt", printed, func(s *story) { s.Calls[2].Job.Attempts = s.Calls[2].Job.Attempts[:1] }},
	{"I10", "an answer with an open attempt beneath an ended job", reopened, func(s *story) { s.Calls[1].Job.Attempts[0].State = jobs.AttemptUnknown }},
	{"I11", "the list has it twice", printed, func(s *story) { s.Listed = append(s.Listed, taleJob) }},
	{"I12", "an unknown in the trail of a run without faults", printed, func(s *story) {
		s.Calm = true
		s.Calls = slices.Delete(s.Calls, 5, 6)
	}},
	{"I12", "an unknown in an answer of a run without faults", cancelled, func(s *story) {
		s.Calm = true
		s.Calls[0].Job.State, s.Calls[0].Job.Attempts[0].State = jobs.Unknown, jobs.AttemptUnknown
	}},
	{"TOLD", "the ETag is not the body's", printed, func(s *story) { s.Calls[2].Broken = "the ETag" }},
}

// answer makes another answer of a call's.
func (s *story) answer(i, status int, name string) {
	s.Calls[i].Status, s.Calls[i].Job, s.Calls[i].Problem = status, told{}, problem{Name: name}
}

var forgedEffects = []forgery{
	{"I2", "created twice", printed, func(s *story) { s.Ledger = append(s.Ledger, s.Ledger[0]) }},
	{"I2", "an effect of no attempt", printed, func(s *story) {
		s.Ledger = append(s.Ledger, entry{At: ms(100), Kind: "create", Key: taleKey, Attempt: "job_1-a9", Mode: "ok", Result: "sheet-9"})
	}},
	{"I2", "an effect of another job's attempt", printed, func(s *story) { s.Ledger[0].Attempt = "job_2-a1" }},
	{"I2", "an effect of an attempt that was never claimed", unclaimed, func(*story) {}},
	{"I2", "the second call overlaps the first", printed, func(s *story) { s.Ledger[1].At = ms(13) }},
	{"I2", "a call after the attempt was settled", printed, func(s *story) { s.Ledger[0].At = ms(60) }},
	{"I2", "a call that had not left", printed, func(s *story) { s.Job.Attempts[0].Reason = "not_sent" }},
	{"I2", "a failed attempt had its effect", printed, func(s *story) { s.Ledger[0].Result = "sheet-1" }},
	{"I2", "the last attempt failed and had its effect", rejected, func(s *story) { s.Ledger[0].Result = "sheet-1" }},
	{"I2", "two attempts had their effect, and nobody cancelled one", shutOut, func(s *story) { s.Ledger[0].Result = "sheet-1" }},
	{"I3", "the loser's result in the record", printed, func(s *story) {
		s.Ledger[0].Result = "" // the loser's, had it been
		s.Job.Result = json.RawMessage(resultJSON("sheet-1"))
	}},
	{"I3 I5", "an answer with two winners", printed, func(s *story) { s.Calls[6].Job.Attempts[0].State = jobs.AttemptSucceeded }},
	{"I3", "succeeded without a winner", printed, func(s *story) { s.Job.CompletedBy = 0 }},
	{"I6", "a late outcome that is not on the attempt", cancelled, func(s *story) { s.Job.Attempts[0].LateResult = nil }},
	{"I6", "shut out, and no outcome was recorded", shutOut, func(s *story) {
		s.Trail[2].Verb, s.Trail[2].Reason = "fail", ""
		s.Job.Attempts[0].LateResult = nil
	}},
	{"I6", "a late outcome that is not in the trail", cancelled, func(s *story) { s.Trail = s.Trail[:len(s.Trail)-1] }},
	{"I6", "a late outcome of other bytes", cancelled, func(s *story) {
		s.Job.Attempts[0].LateResult.SHA256 = digest("other")
		s.Trail[len(s.Trail)-1].Reason = "attempt_cancelled sha256:" + digest("other")
	}},
	{"I6", "a late outcome that nobody recorded, in a run without faults", cancelled, func(s *story) {
		s.Calm = true
		s.Trail, s.Job.Attempts[0].LateResult = s.Trail[:len(s.Trail)-1], nil
	}},
}

// insert puts a line into the trail, behind the first n, and numbers all anew.
func (s *story) insert(n int, line jobs.Event) {
	if line.At == 0 {
		line.At = s.Trail[n-1].At
	}
	s.Trail = slices.Insert(s.Trail, n, line)
	s.renumber()
}

func (s *story) renumber() {
	for i := range s.Trail {
		s.Trail[i].ID = strconv.Itoa(i + 1)
	}
}

var forgedTrails = []forgery{
	{"TRAIL", "a gap in the ids", printed, func(s *story) { s.Trail[3].ID = "9" }},
	{"TRAIL", "a line that was lost", printed, func(s *story) {
		s.Trail = slices.Delete(s.Trail, 5, 6) // suspect
		s.renumber()
	}},
	{"TRAIL", "a line before its time", printed, func(s *story) { s.Trail[5].At = s.Trail[3].At }},
	{"TRAIL", "an attempt that nobody opened", printed, func(s *story) {
		s.Job.Attempts = append(s.Job.Attempts, jobs.Attempt{Number: 3, State: jobs.AttemptCancelled})
	}},
	{"TRAIL", "a note that moves an attempt", printed, func(s *story) {
		s.insert(4, jobs.Event{Actor: worker, Verb: "hold", Attempt: 2, From: "starting", To: "unknown"})
	}},
	{"TRAIL", "a note about an attempt that nobody opened", printed, func(s *story) {
		s.insert(4, jobs.Event{Actor: worker, Verb: "hold", Attempt: 9, From: "starting", To: "starting"})
	}},
	{"TRAIL", "a suspicion of what does not run", printed, func(s *story) {
		s.insert(4, jobs.Event{Actor: worker, Verb: "suspect", Attempt: 2, From: "starting", To: "unknown"})
	}},
	{"TRAIL", "a job whose state is not what the trail makes it", cancelled, func(s *story) {
		s.Job.State, s.Calls[1].Job.State, s.Calls[2].Job.State = jobs.Failed, jobs.Failed, jobs.Failed
	}},
	{"TRAIL", "an attempt whose state is not what the trail makes it", cancelled, func(s *story) {
		s.Job.Attempts[0].State = jobs.AttemptDiscarded
		s.Calls[1].Job.Attempts[0].State, s.Calls[2].Job.Attempts[0].State = jobs.AttemptDiscarded, jobs.AttemptDiscarded
	}},
	{"TRAIL", "a fence that is not the version of the claim", printed, func(s *story) { s.Job.Attempts[1].Fence = 2 }},
	{"I1", "the store went back in time", resolved, func(s *story) {
		s.insert(2, jobs.Event{Actor: worker, Verb: "rewind", Attempt: 1, From: "running", To: "unknown"})
	}},
	{"I2", "claimed twice", printed, func(s *story) {
		s.insert(2, jobs.Event{Actor: worker, Verb: "claim", Attempt: 1, From: "running", To: "running"})
	}},
	{"I2", "a number used twice", resolved, func(s *story) {
		s.insert(6, jobs.Event{Actor: ownerDev, Verb: "open", Attempt: 1, To: "starting"})
	}},
	{"I2", "failed without a claim", reopened, func(s *story) {
		s.insert(4, jobs.Event{Actor: worker, Verb: "fail", Attempt: 2, From: "starting", To: "failed"})
	}},
	{"I10 I3 I4 I6", "a second attempt takes the slot", raced, func(*story) {}},
	{"I10 I3 I4 I6 TRAIL", "a second attempt took the slot, and it does not show any more", raced, func(s *story) {
		s.Job.Attempts[1].State, s.Job.Attempts[1].LateResult = jobs.AttemptCancelled, nil
		s.Calls = s.Calls[:1]
	}},
	{"I4", "an attempt is opened while another is unknown", printed, func(s *story) {
		s.insert(6, jobs.Event{Actor: ownerDev, Verb: "open", Attempt: 3, To: "starting"})
		s.insert(7, jobs.Event{Actor: ownerDev, Verb: "resolve", Attempt: 3, From: "starting", To: "cancelled"})
		s.Job.Attempts = append(s.Job.Attempts, jobs.Attempt{Number: 3, State: jobs.AttemptCancelled})
	}},
	{"I5", "a terminal attempt goes on", printed, func(s *story) {
		s.insert(4, jobs.Event{Actor: worker, Verb: "suspect", Attempt: 1, From: "running", To: "unknown"})
	}},
	{"I5", "the loser takes the slot after the winner", printed, func(s *story) {
		s.insert(7, jobs.Event{Actor: worker, Verb: "finalize", Attempt: 1, From: "failed", To: "succeeded"})
	}},
	{"I5", "an attempt is resolved that is not unknown", printed, func(s *story) {
		s.insert(2, jobs.Event{Actor: operator, Verb: "resolve", Attempt: 1, From: "running", To: "failed"})
	}},
	{"I5", "an attempt opens beneath a final job", printed, func(s *story) {
		s.insert(7, jobs.Event{Actor: ownerDev, Verb: "open", Attempt: 3, To: "starting"})
	}},
	{"I5", "a final job is cancelled", printed, func(s *story) {
		s.insert(7, jobs.Event{Actor: ownerDev, Verb: "cancel", From: "succeeded", To: "cancelled"})
	}},
	{"I6", "a late outcome is applied", cancelled, func(s *story) { s.Trail[4].To = "succeeded" }},
	{"I7", "submitted twice", printed, func(s *story) {
		s.insert(1, jobs.Event{Actor: ownerDev, Verb: "submit", Attempt: 1, To: "starting"})
	}},
	{"I10", "running past lease and sweeps", resolved, func(s *story) {
		longer := jobs.Time(runsAtMost.Milliseconds())
		s.Trail[0].At, s.Trail[1].At = s.Trail[0].At-longer, s.Trail[1].At-longer
	}},
	{"I10", "the job has not ended", func() *story {
		t := submitted()
		t.claim(10, 1)
		return t.over(1000)
	}, func(*story) {}},
}
