package witness

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/jobs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sound is a job that was refused for now, tried again and printed.
func sound() *story {
	busy := Create{Job: "job_1", Attempt: "job_1-a1", Mode: ModeBusy}
	done := Create{Seq: 1, Job: "job_1", Attempt: "job_1-a2", Mode: ModePrint, Effect: true}
	at := time.Now()
	job := jobs.Job{
		ID: "job_1", IdempotencyKey: "key-1", State: jobs.Succeeded, Version: 2, CompletedBy: 2, Result: done.Result(),
		Attempts: []jobs.Attempt{
			{Number: 1, ID: "job_1-a1", State: jobs.AttemptFailed}, {Number: 2, ID: "job_1-a2", State: jobs.AttemptSucceeded},
		},
	}
	return &story{
		job: &job, creates: []Create{busy, done},
		trail: []jobs.Event{
			{Verb: "submit", Attempt: 1, To: "starting"},
			{Verb: "claim", Attempt: 1, From: "starting", To: "running"},
			{Verb: "fail", Attempt: 1, From: "running", To: "failed"},
			{Verb: "open", Attempt: 2, To: "starting"},
			{Verb: "claim", Attempt: 2, From: "starting", To: "running"},
			{Verb: "finalize", Attempt: 2, From: "running", To: "succeeded"},
		},
		sights: []Sight{
			{Start: at, End: at.Add(1), Job: jobs.Job{State: jobs.Queued, Version: 1}},
			{Start: at.Add(2), End: at.Add(3), Job: job},
		},
	}
}

// Every rule broken once is found.
func TestJudge_FindsEach(t *testing.T) {
	t.Parallel()
	found := func(s *story) string {
		w, v := New(&Press{}), Verdict{States: map[string]int{}}
		w.saw("key-1", Sight{Job: jobs.Job{ID: "job_1"}})
		say := func(format string, args ...any) { v.Broken = append(v.Broken, fmt.Sprintf(format, args...)) }
		w.count(&v, map[string]*story{s.job.ID: s}, say)
		once("job_1", s.creates, say)
		s.judge(say)
		for _, id := range v.Lost {
			say("I1: %s", id)
		}
		for _, attempt := range s.lapsed() {
			say("lapsed: %s", attempt)
		}
		return strings.Join(v.Broken, "\n")
	}
	require.Empty(t, found(sound()))
	for says, harm := range map[string]func(*story){
		"I1: job_1":                   func(s *story) { s.job.ID = "job_2" },
		"I7: job_1":                   func(s *story) { s.job.IdempotencyKey = "key-2" },
		"I2: job_1-a2 was sent twice": func(s *story) { s.creates = append(s.creates, s.creates[1]) },
		"I2: job_1-a2 was sent after": func(s *story) { s.creates[0].Effect = true },
		"lapsed: job_1-a2":            func(s *story) { s.job.Attempts = s.job.Attempts[:1] },
		"I3: the press":               func(s *story) { s.job.Result = []byte(`{}`) },
		"I3: it is failed":            func(s *story) { s.job.State = jobs.Failed },
		"I3: attempt 1":               func(s *story) { s.job.Attempts[0].State = jobs.AttemptSucceeded },
		"I4: attempt 2":               func(s *story) { s.trail = append(s.trail[:2:2], s.trail[3:]...) },
		"I5: attempt 2":               func(s *story) { s.trail = append(s.trail, jobs.Event{Attempt: 2, From: "succeeded", To: "failed"}) },
		"I5: shown":                   func(s *story) { s.sights[0].Job.State = jobs.Cancelled },
		"I9: shown":                   func(s *story) { s.sights[0].Job.Version = 3 },
		"I10: it is unknown":          func(s *story) { s.job.State = jobs.Unknown },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			s := sound()
			harm(s)
			require.Contains(t, found(s), says)
		})
	}
}

// What was seen while the store was being lost says nothing.
func TestWitness_Eras(t *testing.T) {
	t.Parallel()
	w := New(&Press{})
	see := func(era int) { w.saw("", Sight{Era: era, Job: jobs.Job{ID: "job_1"}}) }
	see(0)
	w.Turn()
	see(0) // asked before the cut, answered after
	see(1)
	w.Turn()
	see(1)
	see(2)
	require.Len(t, w.sightsOf("job_1"), 2)
}
