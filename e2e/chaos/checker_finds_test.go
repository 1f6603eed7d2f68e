package chaos_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

func goodStory() *story {
	began := time.Now()
	job := jobs.Job{
		ID: "job_1", State: jobs.Succeeded, Version: 2, CompletedBy: 1, Result: json.RawMessage(resultJSON("sheet-1")),
		Attempts: []jobs.Attempt{{Number: 1, State: jobs.AttemptSucceeded}},
	}
	return &story{
		Job:    job,
		Trail:  []jobs.Event{{ID: "1", Verb: "claim", Attempt: 1, From: "starting", To: "running"}, {ID: "2", Verb: "finalize", Attempt: 1, From: "running", To: "succeeded"}},
		Ledger: []entry{{Kind: "create", Attempt: "job_1-a1", Result: "sheet-1"}},
		Calls:  []call{{Key: "k", Kind: "submit", Status: 202, Start: began, End: began.Add(1), Job: told{ID: "job_1", State: jobs.Queued, Version: 1}}},
	}
}

// Every invariant broken once is found.
func TestChecker_FindsEach(t *testing.T) {
	t.Parallel()
	require.Empty(t, goodStory().wrong())
	for says, harm := range map[string]func(*story){
		"I1, I7": func(s *story) { s.Calls[0].Job.ID = "job_2" },
		"I2":     func(s *story) { s.Ledger = append(s.Ledger, s.Ledger[0]) },
		"I3":     func(s *story) { s.Job.Result = json.RawMessage(`{"sheet":"other"}`) },
		"I4": func(s *story) {
			s.Trail = append(s.Trail[:1:1], jobs.Event{Verb: "open", Attempt: 2, To: "starting"})
		},
		"I5": func(s *story) {
			s.Trail = append(s.Trail, jobs.Event{Verb: "fail", Attempt: 1, From: "succeeded", To: "failed"})
		},
		"I6": func(s *story) { s.Job.Attempts[0].LateResult = &jobs.LateResult{} },
		"I8": func(s *story) { s.Calls = append(s.Calls, call{Kind: "other", Status: 202}) },
		"I9": func(s *story) {
			later := s.Calls[0].End.Add(1)
			s.Calls = append(s.Calls, call{Kind: "get", Status: 200, Start: later, End: later, Job: told{ID: "job_1", State: jobs.Queued}})
		},
		"I10": func(s *story) { s.Job.State = jobs.Running },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			s := goodStory()
			harm(s)
			require.Contains(t, strings.Join(s.wrong(), "\n"), says+":")
		})
	}
}
