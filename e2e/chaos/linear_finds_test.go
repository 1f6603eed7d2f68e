package chaos_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"onejob/jobs"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// Every history in which one answer, or one time, is made wrong is told from a
// linearizable one.
func TestLinear_FindsEachForgery(t *testing.T) {
	t.Parallel()
	for _, f := range forgedHistories {
		t.Run(f.what, func(t *testing.T) {
			t.Parallel()
			s := f.of()
			f.harm(s)
			result := porcupine.CheckOperationsTimeout(model, s.operations(), decideTime)
			require.Equal(t, porcupine.Illegal, result, "%s", s)
		})
	}
}

// And those in which only what nobody was told is another are linearizable.
func TestLinear_LetsSilenceBeAnything(t *testing.T) {
	t.Parallel()
	for _, f := range soundHistories {
		t.Run(f.what, func(t *testing.T) {
			t.Parallel()
			s := f.of()
			f.harm(s)
			result := porcupine.CheckOperationsTimeout(model, s.operations(), decideTime)
			require.Equal(t, porcupine.Ok, result, "%s", s)
		})
	}
}

var forgedHistories = []forgery{
	{"", "a read that is stale", printed, func(s *story) { s.Calls[2].Start, s.Calls[2].End = ms(130), ms(135) }},
	{"", "a read of what is not yet", printed, func(s *story) { s.Calls[4].Start, s.Calls[4].End = ms(100), ms(110) }},
	{"", "a read that is stale by its revision alone", printed, func(s *story) { s.Calls[6].Job.Revision-- }},
	{"", "a read that is stale by what another was told", printed, func(s *story) { s.Calls[6].Job.Revision += 3 }},
	{"", "another job id", printed, func(s *story) { s.Calls[2].Job.ID = "job_2" }},
	{"", "another job id for a replay", printed, func(s *story) { s.Calls[1].Job.ID = "job_2" }},
	{"", "another job id in a refusal", printed, func(s *story) { s.Calls[3].Problem.Job = "job_2" }},
	{"", "a 409 in place of the duplicate", printed, func(s *story) { s.answer(6, 409, "idempotency-key-reused") }},
	{"", "a duplicate in place of the 409", printed, func(s *story) {
		s.Calls[3].Status, s.Calls[3].Job, s.Calls[3].Replayed = 202, s.Calls[2].Job, true
	}},
	{"", "made by two", printed, func(s *story) { s.Calls[1].Replayed = false }},
	{"", "made by nobody", printed, func(s *story) { s.Calls[0].Replayed = true }},
	{"", "made after it was told of", printed, func(s *story) { s.Calls[1].Start, s.Calls[1].End = ms(-20), ms(-10) }},
	{"", "not there after the acknowledgement", printed, func(s *story) { s.answer(2, 404, "not-found") }},
	{"", "another version", printed, func(s *story) { s.Calls[4].Job.Version = 2 }},
	{"", "another state", printed, func(s *story) { s.Calls[4].Job.State = jobs.Unknown }},
	{"", "another fence", printed, func(s *story) { s.Calls[4].Job.Attempts[1].Fence = 2 }},
	{"", "another result", printed, func(s *story) { s.Calls[6].Job.Result = resultJSON("sheet-1") }},
	{"", "another winner", printed, func(s *story) { s.Calls[6].Job.CompletedBy = 1 }},
	{"", "an answer that is none of a call's", printed, func(s *story) { s.answer(4, 418, "teapot") }},
	{"", "a cancel refused too early", printed, func(s *story) { s.Calls[7].Start, s.Calls[7].End = ms(180), ms(200) }},
	{"", "a cancel acknowledged that nothing came of", printed, func(s *story) {
		s.Calls[7].Status, s.Calls[7].Problem, s.Calls[7].Job = 200, problem{}, s.Calls[5].Job
		s.Calls[7].Start, s.Calls[7].End = ms(180), ms(200)
	}},
	{"", "a cancel acknowledged, and then a success without a win", cancelled, func(s *story) {
		s.Calls[2].Job.State, s.Calls[2].Job.CompletedBy, s.Calls[2].Job.Result = jobs.Succeeded, 1, resultJSON("sheet-1")
		s.Calls[2].Job.Attempts[0].State = jobs.AttemptSucceeded
	}},
	{"", "a cancel acknowledged before it was done", cancelled, func(s *story) { s.Calls[1].Start, s.Calls[1].End = ms(11), ms(15) }},
	{"", "a cancel asked for after it was done", cancelled, func(s *story) { s.Calls[1].Start = ms(24) }},
	{"", "a cancel that nobody asked for", cancelled, func(s *story) { s.Calls = slices.Delete(s.Calls, 1, 2) }},
	{"", "a cancel that was done before anybody asked, and nobody was told", cancelled, func(s *story) {
		s.Calls[1].Status, s.Calls[1].Start, s.Calls[1].End = 0, ms(30), ms(40)
	}},
	{"", "412 though the version was that", resolved, func(s *story) { s.Calls[2].IfMatch = 1 }},
	{"", "412 that tells another version", resolved, func(s *story) { s.Calls[2].Problem.Version = 3 }},
	{"", "done though the version was another", resolved, func(s *story) { s.Calls[3].IfMatch = 2 }},
	{"", "settled, and it was not", resolved, func(s *story) { s.Calls[4].Start, s.Calls[4].End = ms(7100), ms(7200) }},
	{"", "not unknown, and it was", resolved, func(s *story) { s.Calls[5].Start, s.Calls[5].End = ms(9000), ms(9100) }},
	{"", "resolved to something else", resolved, func(s *story) { s.Calls[3].Body = `{"outcome":"cancelled"}` }},
	{"", "resolved with another result", resolved, func(s *story) { s.Calls[6].Body = `{"outcome":"succeeded","result":{"sheet":"sheet-7"}}` }},
	{"", "unresolved, and nothing was open", reopened, func(s *story) { s.Calls[3].Start, s.Calls[3].End = ms(20), ms(30) }},
	{"", "opened by a call that came later", reopened, func(s *story) { s.Calls[2].Start, s.Calls[2].End = ms(60), ms(65) }},
	{"", "a line that cannot have happened", cancelled, func(s *story) {
		s.insert(2, jobs.Event{Actor: worker, Verb: "claim", Attempt: 1, From: "running", To: "running"})
		s.Calls[1].Job.Revision++
		s.Calls[2].Job.Revision++
	}},
}

var soundHistories = []forgery{
	{"", "a call takes effect a minute after its caller gave up", reopened, func(s *story) {
		const minute = 60 * time.Second
		for i := 3; i < len(s.Trail); i++ {
			s.Trail[i].At += jobs.Time(minute.Milliseconds())
		}
		for i := 3; i < len(s.Calls); i++ {
			s.Calls[i].Start, s.Calls[i].End = s.Calls[i].Start.Add(minute), s.Calls[i].End.Add(minute)
		}
	}},
	{"", "calls that nobody answered and that did nothing", cancelled, func(s *story) {
		for range 40 {
			s.Calls = append(s.Calls, call{Kind: "cancel", Path: s.Calls[1].Path, Start: ms(-100), End: ms(-90)})
			s.Calls = append(s.Calls, call{Kind: "submit", Path: "/v1/jobs", Body: s.Calls[0].Body, Start: ms(-100), End: ms(-90)})
		}
	}},
	{"", "made by one that was told nothing", printed, func(s *story) { s.Calls[0].Status = 503; s.Calls[1].Replayed = true }},
	{"", "told of its own change later than it was made", cancelled, func(s *story) { s.Calls[1].End = ms(900) }},
	{"", "a read that overlaps everything", printed, func(s *story) { s.Calls[4].Start, s.Calls[4].End = ms(-100), ms(900) }},
	{"", "too many requests", printed, func(s *story) { s.answer(4, 429, "rate-limited") }},
}

// A history that is not linearizable is drawn where the run's pictures go.
func TestLinear_Draws(t *testing.T) {
	t.Parallel()
	s, folder := cancelled(), filepath.Join(t.TempDir(), "pictures")
	s.Calls[1].Status = 0
	s.Calls[2].Job.Version = 7
	var found findings
	s.linear(&found, folder, "chaos-1-key")
	require.Equal(t, []string{"LINEAR"}, found.rules())
	picture := filepath.Join(folder, "chaos-1-key.html")
	require.Contains(t, found[0].what, picture)
	drawn, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Contains(t, string(drawn), "late_result_discarded")
	require.Contains(t, string(drawn), "no answer")
}
