package consequence_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/dashboard/consequence"
	"onejob/jobs"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func at(after time.Duration) jobs.Time { return jobs.Time(now.Add(after).UnixMilli()) }

// job is one at version 3 with attempts in these states.
func job(state jobs.State, attempts ...jobs.AttemptState) *jobs.Job {
	j := &jobs.Job{ID: "job_1", State: state, Version: 3, Provider: "inkjet", Next: &jobs.Next{Allowed: state == jobs.Failed}}
	for i, s := range attempts {
		a := jobs.Attempt{Number: i + 1, State: s, Provider: "inkjet", Effect: "unknown"}
		if s == jobs.AttemptStarting {
			a.Effect = "none"
		}
		j.Attempts = append(j.Attempts, a)
		if s.Open() && (j.BlockedBy == nil || j.BlockedBy.State != "unknown") {
			j.BlockedBy = &jobs.Block{Attempt: i + 1, State: string(s)}
		}
	}
	return j
}

func unknown(change func(j *jobs.Job)) *jobs.Job {
	j := job(jobs.Unknown, jobs.AttemptUnknown)
	if change != nil {
		change(j)
	}
	return j
}

func listened(j *jobs.Job) { j.BlockedBy.ListeningUntil = at(23 * time.Second) }

func lookedUp(said string) func(j *jobs.Job) {
	return func(j *jobs.Job) {
		j.BlockedBy.NextLookupAt = at(40 * time.Second)
		j.Attempts[0].Lookup = &jobs.Lookup{Said: said, At: at(-5 * time.Second), Times: 2}
	}
}

func noEffect(j *jobs.Job) *jobs.Job {
	for i := range j.Attempts {
		j.Attempts[i].Effect = "none"
	}
	return j
}

// choices are decisions, one for every rule about them.
var choices = []struct {
	name   string
	choice consequence.Choice
	grade  consequence.Grade
}{
	{"wait, nobody listens", consequence.Choice{Action: consequence.Wait, Attempt: 1, Job: unknown(nil)}, consequence.Some},
	{"wait, listened to", consequence.Choice{Action: consequence.Wait, Attempt: 1, Job: unknown(listened)}, consequence.Nothing},
	{"wait, seen at work", consequence.Choice{Action: consequence.Wait, Attempt: 1, Job: unknown(lookedUp("running"))}, consequence.Nothing},
	{"succeed", consequence.Choice{Action: consequence.Succeed, Attempt: 1, Job: unknown(nil)}, consequence.Twice},
	{"succeed in a race", consequence.Choice{Action: consequence.Succeed, Attempt: 1, Job: job(jobs.Running, jobs.AttemptUnknown, jobs.AttemptRunning), Harmless: true}, consequence.Twice},
	{"fail", consequence.Choice{Action: consequence.Fail, Attempt: 1, Job: unknown(nil)}, consequence.Twice},
	{"fail, listened to", consequence.Choice{Action: consequence.Fail, Attempt: 1, Job: unknown(listened)}, consequence.Twice},
	{"fail, seen at work", consequence.Choice{Action: consequence.Fail, Attempt: 1, Job: unknown(lookedUp("running"))}, consequence.Twice},
	{"fail, looked up in vain", consequence.Choice{Action: consequence.Fail, Attempt: 1, Job: unknown(lookedUp("lookup_absent: 404"))}, consequence.Twice},
	{"fail and go on", consequence.Choice{Action: consequence.Fail, Attempt: 1, Continue: true, Job: unknown(nil)}, consequence.Twice},
	{"fail, harmless", consequence.Choice{Action: consequence.Fail, Attempt: 1, Harmless: true, Job: unknown(nil)}, consequence.Some},
	{"fail without effect", consequence.Choice{Action: consequence.Fail, Attempt: 1, Job: noEffect(unknown(nil))}, consequence.Nothing},
	{"fail in a race", consequence.Choice{Action: consequence.Fail, Attempt: 1, Harmless: true, Job: job(jobs.Running, jobs.AttemptUnknown, jobs.AttemptRunning)}, consequence.Some},
	{"cancel a starting attempt", consequence.Choice{Action: consequence.CancelAttempt, Attempt: 1, Job: job(jobs.Queued, jobs.AttemptStarting)}, consequence.Nothing},
	{"cancel a running attempt", consequence.Choice{Action: consequence.CancelAttempt, Attempt: 1, Job: job(jobs.Running, jobs.AttemptRunning)}, consequence.Twice},
	{"cancel an unknown attempt and go on", consequence.Choice{Action: consequence.CancelAttempt, Attempt: 1, Continue: true, Job: unknown(listened)}, consequence.Twice},
	{"cancel a queued job", consequence.Choice{Action: consequence.CancelJob, Job: job(jobs.Queued, jobs.AttemptStarting)}, consequence.Nothing},
	{"cancel a running job", consequence.Choice{Action: consequence.CancelJob, Job: job(jobs.Running, jobs.AttemptRunning)}, consequence.Twice},
	{"cancel an unknown job, harmless", consequence.Choice{Action: consequence.CancelJob, Job: unknown(listened), Harmless: true}, consequence.Some},
	{"retry without effect", consequence.Choice{Action: consequence.Retry, Job: noEffect(job(jobs.Failed, jobs.AttemptFailed))}, consequence.Nothing},
	{"retry after doubt", consequence.Choice{Action: consequence.Retry, Provider: "laser", Job: job(jobs.Failed, jobs.AttemptFailed, jobs.AttemptCancelled, jobs.AttemptFailed)}, consequence.Twice},
	{"retry, harmless", consequence.Choice{Action: consequence.Retry, Harmless: true, Job: job(jobs.Failed, jobs.AttemptFailed)}, consequence.Some},
	{"retry a succeeded job", consequence.Choice{Action: consequence.Retry, Job: job(jobs.Succeeded, jobs.AttemptSucceeded)}, consequence.Nothing},
	{"retry a cancelled job", consequence.Choice{Action: consequence.Retry, Job: job(jobs.Cancelled, jobs.AttemptCancelled)}, consequence.Nothing},
	{"retry an unknown job", consequence.Choice{Action: consequence.Retry, Job: unknown(nil)}, consequence.Nothing},
	{"cancel a failed job", consequence.Choice{Action: consequence.CancelJob, Job: job(jobs.Failed, jobs.AttemptFailed)}, consequence.Nothing},
	{"fail a running attempt", consequence.Choice{Action: consequence.Fail, Attempt: 1, Job: job(jobs.Running, jobs.AttemptRunning)}, consequence.Nothing},
	{"fail a settled attempt", consequence.Choice{Action: consequence.Fail, Attempt: 1, Job: job(jobs.Failed, jobs.AttemptFailed)}, consequence.Nothing},
	{"fail an attempt there is none of", consequence.Choice{Action: consequence.Fail, Attempt: 9, Job: unknown(nil)}, consequence.Nothing},
	{"no action", consequence.Choice{Action: "explode", Attempt: 1, Job: unknown(nil)}, consequence.Nothing},
}

func TestConsequences(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, test := range choices {
		test.choice.Now = now
		c := consequence.Of(test.choice)
		require.Equal(t, test.grade, c.Grade, test.name)
		require.Equal(t, c.Grade == consequence.Nothing, len(c.Risks) == 0, "%s: a grade has its reasons", test.name)
		require.NotEqual(t, c.Refused == "", c.Button == "", "%s: a button, or why there is none", test.name)
		require.Equal(t, c.Refused == "", len(c.Does) > 0, test.name)
		fmt.Fprintf(&b, "## %s\n%s\n", test.name, c.Title)
		for _, does := range c.Does {
			fmt.Fprintln(&b, "-", does)
		}
		for _, risk := range c.Risks {
			fmt.Fprintln(&b, "!", risk)
		}
		fmt.Fprintf(&b, "[%s%s] %s\n\n", c.Button, c.Refused, c.Grade)
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/consequences.md", []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile("testdata/consequences.md")
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

// What is worst is said whatever else is.
func TestGradeIsTheWorst(t *testing.T) {
	t.Parallel()
	c := consequence.Of(consequence.Choice{Action: consequence.CancelAttempt, Attempt: 1, Job: unknown(listened), Now: now})
	require.Equal(t, consequence.Twice, c.Grade)
	require.Contains(t, strings.Join(c.Risks, " "), "still listened to until 12:00:23 UTC (in 23 s)")
	require.Contains(t, c.Risks[0], "charged twice", "the worst comes first")
	require.Contains(t, strings.Join(c.Risks, " "), "no undo")
}

func TestSettlesItself(t *testing.T) {
	t.Parallel()
	require.False(t, consequence.SettlesItself(unknown(nil)))
	require.True(t, consequence.SettlesItself(unknown(listened)))
	require.True(t, consequence.SettlesItself(unknown(lookedUp("running"))))
	require.False(t, consequence.SettlesItself(job(jobs.Failed, jobs.AttemptFailed)))
}
