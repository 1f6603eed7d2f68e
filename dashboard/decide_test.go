package dashboard_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/audit"
	"onejob/dashboard"
	"onejob/jobs"
)

// Every decision: what the pages say, what the store does, and who is put down.
func TestDecisions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		make      func(d *desk) *jobs.Job
		action    string
		attempt   int
		fields    []string
		state     jobs.State
		version   int64
		attempts  []jobs.AttemptState
		verb      string
		audited   string
		names     string // the consequence
		woken     int
		completed int
	}{
		"wait": {
			make: func(d *desk) *jobs.Job { j, _ := d.unknown("k"); return j }, action: "wait", attempt: 1,
			state: jobs.Unknown, version: 1, attempts: []jobs.AttemptState{"unknown"}, verb: "wait", audited: "wait", names: "Nothing is called and nothing changes",
		},
		"succeeded": {
			make: func(d *desk) *jobs.Job { j, _ := d.unknown("k"); return j }, action: "succeed", attempt: 1, fields: []string{"result", ` {"ok": 1.50} `},
			state: jobs.Succeeded, version: 2, attempts: []jobs.AttemptState{"succeeded"}, verb: "resolve", audited: "resolve-succeeded",
			names: "becomes the result of the job, for good", completed: 1,
		},
		"failed": {
			make: func(d *desk) *jobs.Job { j, _ := d.unknown("k"); return j }, action: "fail", attempt: 1,
			state: jobs.Failed, version: 2, attempts: []jobs.AttemptState{"failed"}, verb: "resolve", audited: "resolve-failed",
			names: "you could be charged twice. Find out",
		},
		"failed, go on": {
			make: func(d *desk) *jobs.Job { j, _ := d.unknown("k"); return j }, action: "fail", attempt: 1, fields: []string{"continue", "1"},
			state: jobs.Queued, version: 2, attempts: []jobs.AttemptState{"failed", "starting"}, verb: "resolve", audited: "resolve-failed",
			names: "without asking you again", woken: 2,
		},
		"cancel a running attempt": {
			make: func(d *desk) *jobs.Job { j := d.submitted("k"); d.claimed(j.ID, 1); return d.job(j.ID) }, action: "cancel-attempt", attempt: 1,
			state: jobs.Failed, version: 2, attempts: []jobs.AttemptState{"cancelled"}, verb: "resolve", audited: "cancel-attempt", names: "A cancel is no undo",
		},
		"cancel the job": {
			make: func(d *desk) *jobs.Job { return d.submitted("k") }, action: "cancel",
			state: jobs.Cancelled, version: 2, attempts: []jobs.AttemptState{"cancelled"}, verb: "cancel", audited: "cancel-job", names: "for good: it cannot be retried",
		},
		"retry": {
			make: func(d *desk) *jobs.Job { return d.failed("k") }, action: "retry", fields: []string{"provider", "laser"},
			state: jobs.Queued, version: 2, attempts: []jobs.AttemptState{"failed", "starting"}, verb: "open", audited: "retry-job",
			names: "nothing can happen twice", woken: 2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t)
			job := test.make(d)
			form := d.form(job.ID, test.action, test.attempt, append([]string{"step", "review"}, test.fields...)...)

			review := d.decide(job.ID, form)
			require.Equal(t, http.StatusOK, review.status, review.body)
			require.Contains(t, review.body, test.names)
			require.Contains(t, review.body, "asked the printer")
			require.Equal(t, job.Revision, d.job(job.ID).Revision, "a review changes nothing")
			require.NotContains(t, audited(d), test.audited)

			for name, field := range form {
				if name != "step" && name != "result" {
					require.Equal(t, field[0], hidden(t, review.body, name), "what was written is sent again")
				}
			}
			form.Set("step", "confirm")
			answer := d.decide(job.ID, form)
			require.Equal(t, http.StatusSeeOther, answer.status, answer.body)
			require.Equal(t, "/dashboard/jobs/"+job.ID, answer.header.Get("Location"))
			require.Contains(t, d.shown("/dashboard/jobs/"+job.ID), `id="said"`)

			after := d.job(job.ID)
			require.Equal(t, test.state, after.State)
			require.Equal(t, test.version, after.Version)
			require.Equal(t, test.completed, after.CompletedBy)
			for i, state := range test.attempts {
				require.Equal(t, state, after.Attempts[i].State)
			}
			require.Contains(t, d.verbs(job.ID), test.verb+" operator:operator-person")
			require.Contains(t, audited(d), test.audited)
			if test.woken == 0 {
				require.Empty(t, d.wakes.all())
			} else {
				require.Len(t, d.wakes.all(), 1)
				woken := d.wakes.all()[0]
				require.Equal(t, []any{job.ID, test.woken, "laser"}, []any{woken.JobID, woken.Attempt, woken.Provider})
			}
		})
	}
}

// audited are the actions in the audit log that were done.
func audited(d *desk) []string {
	var actions []string
	for _, e := range d.trail() {
		if e.Outcome == audit.Done {
			actions = append(actions, e.Action)
		}
	}
	return actions
}

func TestDecisionKeepsTheResultToTheLetter(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job, _ := d.unknown("k")
	form := d.form(job.ID, "succeed", 1, "result", `{"ok":12345678901234567890.10,"x":"</textarea><script>"}`, "step", "review")
	review := d.decide(job.ID, form)
	require.Equal(t, http.StatusOK, review.status)
	require.NotContains(t, review.body, "<script>\"")
	form.Set("step", "confirm")
	require.Equal(t, http.StatusSeeOther, d.decide(job.ID, form).status)
	require.Equal(t, form.Get("result"), string(d.job(job.ID).Result))
}

// What is wrong is said beside the field, what was written is not lost, and nothing
// is changed.
func TestDecisionsAreChecked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		action string
		fields []string
		wrong  string
	}{
		"no reason":          {"fail", []string{"reason", "  "}, "Say why"},
		"endless reason":     {"fail", []string{"reason", strings.Repeat("é", 501)}, "longer than 500 characters"},
		"no result":          {"succeed", []string{"result", " "}, "Enter the result as JSON"},
		"no JSON":            {"succeed", []string{"result", "done"}, "This is not JSON"},
		"half of it":         {"succeed", []string{"result", `{"ok":`}, "This is not JSON"},
		"names twice":        {"succeed", []string{"result", `{"ok":1,"ok":2}`}, "This is not JSON"},
		"something behind":   {"succeed", []string{"result", `{"ok":1} {"ok":2}`}, "more behind the end"},
		"out of range":       {"succeed", []string{"result", `{"ok":1e999}`}, "out of range"},
		"against the rules":  {"succeed", []string{"result", `{}`}, "breaks the output rules of route print: ok is missing"},
		"a foreign provider": {"retry", []string{"provider", "gutenberg"}, "Provider gutenberg is not one of route print; its providers are inkjet, laser."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t)
			job, _ := d.unknown("k")
			attempt := 1
			if test.action == "retry" {
				job, attempt = d.failed("f"), 0
			}
			for _, step := range []string{"review", "confirm"} {
				form := d.form(job.ID, test.action, attempt, append([]string{"step", step}, test.fields...)...)
				answer := d.decide(job.ID, form)
				require.Equal(t, http.StatusBadRequest, answer.status)
				require.Contains(t, answer.body, test.wrong)
				require.Contains(t, answer.body, `aria-invalid="true"`)
				if test.fields[0] != "reason" {
					require.Contains(t, answer.body, "asked the printer")
				}
			}
			require.Equal(t, job.Revision, d.job(job.ID).Revision)
			require.Empty(t, d.wakes.all())
		})
	}
}

// A form that was filled in for a job that has moved on is refused, with how the job
// stands now.
func TestDecisionsAboutAJobThatMovedOn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		moves  func(d *desk, job *jobs.Job, c *jobs.Claim)
		status int
		shows  string
	}{
		"the answer came": {func(d *desk, _ *jobs.Job, c *jobs.Claim) { d.finalized(c, `{"ok":true}`) }, http.StatusPreconditionFailed, "succeeded"},
		"somebody was faster": {func(d *desk, job *jobs.Job, _ *jobs.Claim) {
			require.Equal(d.t, http.StatusSeeOther, d.decide(job.ID, d.form(job.ID, "cancel-attempt", 1)).status)
		}, http.StatusPreconditionFailed, "Attempt 1 at inkjet: cancelled"},
		// The version stays; the next attempt runs, of which the form knew nothing.
		"it failed and went on": {func(d *desk, job *jobs.Job, c *jobs.Claim) {
			_, err := d.store.Fail(d.t.Context(), ending(c, "none"), jobs.Failure{Reason: "busy", Retryable: true, Policy: plan(4)})
			require.NoError(d.t, err)
			require.Equal(d.t, int64(1), d.job(job.ID).Version)
		}, http.StatusPreconditionFailed, "Attempt 2 at laser: starting"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, action := range []string{"fail", "cancel"} {
				for _, step := range []string{"review", "confirm"} {
					d := deskOf(t)
					job, c := d.unknown("k")
					attempt := 0
					if action == "fail" {
						attempt = 1
					}
					form := d.form(job.ID, action, attempt, "step", step)
					test.moves(d, job, c)
					before := d.job(job.ID)
					answer := d.decide(job.ID, form)
					require.Equal(t, test.status, answer.status, answer.body)
					require.Contains(t, answer.body, "The job moved on since this page was shown to you. Nothing was changed.")
					require.Contains(t, answer.body, "This is how it stands now")
					require.Contains(t, answer.body, test.shows)
					require.Equal(t, before.Revision, d.job(job.ID).Revision)
				}
			}
		})
	}
}

// A confirmation that is sent twice (a double click, a lost reply) is one decision.
func TestConfirmedTwice(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job := d.failed("k")
	form := d.form(job.ID, "retry", 0, "provider", "inkjet")
	for range 2 {
		require.Equal(t, http.StatusSeeOther, d.decide(job.ID, form).status)
	}
	require.Len(t, d.job(job.ID).Attempts, 2)
	form.Set("op", "not one of ours; made anew")
	require.Equal(t, http.StatusPreconditionFailed, d.decide(job.ID, form).status)
}

func TestDecisionsThatCannotBe(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	queued := d.submitted("q")
	unknown, _ := d.unknown("u")
	won := d.submitted("w")
	d.finalized(d.claimed(won.ID, 1), `{"ok":true}`)
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		queued.ID + "/decide?action=fail&attempt=1":    {http.StatusConflict, "Only of an unknown attempt"},
		unknown.ID + "/decide?action=fail&attempt=7":   {http.StatusConflict, "no attempt 7"},
		unknown.ID + "/decide?action=retry":            {http.StatusConflict, "No other attempt opens"},
		won.ID + "/decide?action=cancel":               {http.StatusConflict, "has ended: it is succeeded"},
		won.ID + "/decide?action=retry":                {http.StatusConflict, "there is nothing to try again"},
		unknown.ID + "/decide?action=explode":          {http.StatusConflict, "nothing that can be done"},
		jobs.NewID("x", "y") + "/decide?action=cancel": {http.StatusNotFound, "no such job"},
		"job_foreign/decide?action=cancel":             {http.StatusNotFound, "no such job"},
	} {
		answer := d.get("/dashboard/jobs/" + path)
		require.Equal(t, want.status, answer.status, path)
		require.Regexp(t, want.says, answer.body, path)
	}
	form := d.form(unknown.ID, "fail", 1, "version", "0")
	require.Equal(t, http.StatusBadRequest, d.decide(unknown.ID, form).status, "no form without a version decides")
	form.Set("version", "")
	require.Equal(t, http.StatusBadRequest, d.decide(unknown.ID, form).status)
	require.Equal(t, jobs.Unknown, d.job(unknown.ID).State)
}

// A route that is not configured any more has no plan, and nobody to serve it.
func TestDecisionsOnARouteThatIsGone(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job, _ := d.unknown("u", onRoute("gone"))
	require.NotContains(t, d.shown("/dashboard/jobs/"+job.ID+"/decide?action=fail&attempt=1"), `id="continue"`)
	answer := d.decide(job.ID, d.form(job.ID, "fail", 1, "continue", "1"))
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Contains(t, answer.body, "no plan to go on by")
	failed := d.failed("f", onRoute("gone"))
	answer = d.decide(failed.ID, d.form(failed.ID, "retry", 0))
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Contains(t, answer.body, "nobody would make the call")
	require.Len(t, d.job(failed.ID).Attempts, 1)
}

func TestDecisionsNeedTheTokenAndTheAudit(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job, _ := d.unknown("u")
	form := d.form(job.ID, "fail", 1)
	stolen := maps.Clone(form)
	stolen.Del("csrf")
	require.Equal(t, http.StatusForbidden, d.decide(job.ID, stolen).status)
	require.Equal(t, jobs.Unknown, d.job(job.ID).State)
	entries := d.trail()
	require.Equal(t, "login", entries[0].Action)

	require.Equal(t, http.StatusSeeOther, d.decide(job.ID, form).status)
	entry := d.trail()[0]
	require.Equal(t, "resolve-failed", entry.Action)
	require.Equal(t, job.ID+" attempt 1", entry.Target)
	require.Equal(t, "asked the printer", entry.Reason)
	require.Equal(t, "operator:operator-person", entry.Actor)
	require.Equal(t, d.operatorKey.ID, entry.KeyID)
}

// With the store of jobs away nothing is said to be done.
type deaf struct{ dashboard.JobStore }

func (deaf) Resolve(context.Context, jobs.Resolution) (jobs.Changed, error) {
	return jobs.Changed{}, context.DeadlineExceeded
}

func TestDecisionsWithTheStoreAway(t *testing.T) {
	t.Parallel()
	d := deskOf(t, func(c *dashboard.Config) { c.Jobs.Store = deaf{c.Jobs.Store} })
	job, _ := d.unknown("u")
	answer := d.decide(job.ID, d.form(job.ID, "fail", 1))
	require.Equal(t, http.StatusServiceUnavailable, answer.status)
	require.Equal(t, audit.Failed, d.trail()[0].Outcome, "nobody knows whether it was done")
}
