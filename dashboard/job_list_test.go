package dashboard_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

var rowIDs = regexp.MustCompile(`<tr id="row-(job_[0-9A-Z]+)"`)

// rows are the ids of the jobs in a list, in its order.
func rows(body string) []string {
	var ids []string
	for _, found := range rowIDs.FindAllStringSubmatch(body, -1) {
		ids = append(ids, found[1])
	}
	return ids
}

func TestJobsAreFiltered(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	d.redis.SetTime(now)
	a := d.submitted("a")
	d.redis.SetTime(now.Add(time.Minute))
	b := d.failed("b", func(s *jobs.Submission) { s.Owner, s.Provider = "umbra", "laser" })
	d.redis.SetTime(now.Add(2 * time.Minute))
	c := d.submitted("c", onRoute("draft"))

	for query, want := range map[string][]string{
		"":                            {c.ID, b.ID, a.ID},
		"state=failed":                {b.ID},
		"state=queued":                {c.ID, a.ID},
		"owner=umbra":                 {b.ID},
		"owner=acme&key=a":            {a.ID},
		"key=b":                       {b.ID},
		"route=draft":                 {c.ID},
		"provider=laser":              {b.ID},
		"provider=laser&state=queued": nil,
		"since=2026-03-04T12:01":      {c.ID, b.ID},
		"until=2026-03-04T12:01:00":   {a.ID},
		"since=2026-03-04T12:00:30&until=2026-03-04T12:01:30": {b.ID},
		"owner=+umbra+": {b.ID},
		"owner=nobody":  nil,
	} {
		body := d.shown("/dashboard/jobs?" + query)
		require.Equal(t, want, rows(body), query)
		if want == nil {
			require.Contains(t, body, "No job matches")
		}
	}
	body := d.shown("/dashboard/jobs?owner=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&key=x")
	require.NotContains(t, body, "<script>alert")
	for query, wrong := range map[string]string{
		"state=odd": "no state of that name", "since=yesterday": "From is not a time", "until=2026-13-01": "Until is not a time",
	} {
		require.Contains(t, d.shown("/dashboard/jobs?"+query), wrong)
	}
	require.Equal(t, http.StatusBadRequest, d.get("/dashboard/jobs?after=%21").status)
}

// A page is live while it is the first one; what is further down stands still, so
// that nothing moves while somebody reads.
func TestJobsArePaged(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	var made []string
	for range 53 {
		made = append(made, d.submitted(jobs.NewOp()).ID)
	}
	first := d.shown("/dashboard/jobs?owner=acme")
	require.Len(t, rows(first), 50)
	require.Contains(t, first, `hx-trigger="sse:changed, refresh"`)
	require.Contains(t, first, `id="live-toggle"`)
	next := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(first)
	require.NotNil(t, next)
	second := d.shown(strings.ReplaceAll(next[1], "&amp;", "&"))
	require.Len(t, rows(second), 3)
	require.NotContains(t, second, "hx-trigger")
	require.Contains(t, second, `id="newest"`)
	seen := append(rows(first), rows(second)...)
	slices.Sort(seen)
	slices.Sort(made)
	require.Equal(t, made, seen)
}

func bulkForm(d *desk, do string, fields url.Values) url.Values {
	form := url.Values{"csrf": {d.csrf()}, "do": {do}}
	maps.Copy(form, fields)
	return form
}

// confirmation is what a preview sends back.
func confirmation(d *desk, body, do string) url.Values {
	form := bulkForm(d, do, url.Values{"step": {"confirm"}, "reason": {"printer is back"}, "op": {hidden(d.t, body, "op")}})
	for _, found := range regexp.MustCompile(`name="job" value="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		form.Add("job", found[1])
	}
	return form
}

func row(t *testing.T, body, id string) string {
	t.Helper()
	_, after, found := strings.Cut(body, `<tr id="row-`+id+`"`)
	require.True(t, found, "no row of %s", id)
	within, _, _ := strings.Cut(after, "</tr>")
	return within
}

func TestBulkRetry(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	f1, f2, gone := d.failed("f1"), d.failed("f2"), d.failed("f3", onRoute("gone"))
	unknown, _ := d.unknown("u")
	missing := jobs.NewID("acme", "never")
	preview := d.post("/dashboard/jobs/bulk", bulkForm(d, "retry", url.Values{"id": {f1.ID, f2.ID, gone.ID, unknown.ID, missing, f1.ID}}))
	require.Equal(t, http.StatusOK, preview.status)
	require.Contains(t, preview.body, "Nothing has been changed yet.")
	require.Contains(t, row(t, preview.body, f1.ID), "Attempt 2 opens at inkjet")
	require.Contains(t, row(t, preview.body, unknown.ID), "No other attempt opens while one is not settled")
	require.Contains(t, row(t, preview.body, gone.ID), "Route gone is not in the configuration any more")
	require.Contains(t, row(t, preview.body, missing), "no such job")
	require.Equal(t, f1.Revision, d.job(f1.ID).Revision)
	form := confirmation(d, preview.body, "retry")
	require.Len(t, form["job"], 2, "only what would be done is asked for, once")

	// Meanwhile one of them moves on.
	require.Equal(t, http.StatusSeeOther, d.decide(f2.ID, d.form(f2.ID, "retry", 0, "provider", "laser")).status)
	moved := d.job(f2.ID)
	outcome := d.post("/dashboard/jobs/bulk", form)
	require.Equal(t, http.StatusOK, outcome.status)
	require.Contains(t, outcome.body, "1 done, 1 not.")
	require.Contains(t, row(t, outcome.body, f1.ID), "done")
	require.Contains(t, row(t, outcome.body, f2.ID), "refused")
	require.Contains(t, row(t, outcome.body, f2.ID), "moved on")
	require.Len(t, d.job(f1.ID).Attempts, 2)
	require.Equal(t, moved.Revision, d.job(f2.ID).Revision)
	require.Len(t, d.wakes.all(), 2)

	var entries []string
	for _, e := range d.trail() {
		if e.Action == "retry-job" && e.Reason == "printer is back" {
			entries = append(entries, e.Target+" "+string(e.Outcome))
		}
	}
	require.ElementsMatch(t, []string{f1.ID + " done", f2.ID + " refused"}, entries, "an entry for each job")

	// Sent again, it is not done again.
	require.Contains(t, row(t, d.post("/dashboard/jobs/bulk", form).body, f1.ID), "done")
	require.Len(t, d.job(f1.ID).Attempts, 2)
}

func TestBulkCancelNamesTheRisk(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	queued := d.submitted("q")
	unknown, _ := d.unknown("u")
	preview := d.post("/dashboard/jobs/bulk", bulkForm(d, "cancel", url.Values{"id": {queued.ID, unknown.ID}}))
	require.Contains(t, preview.body, "Of one the work may be done twice")
	require.Contains(t, preview.body, "A cancel is no undo")
	outcome := d.post("/dashboard/jobs/bulk", confirmation(d, preview.body, "cancel"))
	require.Contains(t, outcome.body, "2 done, 0 not.")
	require.Equal(t, jobs.Cancelled, d.job(queued.ID).State)
	require.Equal(t, jobs.Cancelled, d.job(unknown.ID).State)
}

func TestBulkOfAllThatMatch(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	mine, other := d.failed("mine"), d.failed("other", func(s *jobs.Submission) { s.Owner = "umbra" })
	queued := d.submitted("q")
	preview := d.post("/dashboard/jobs/bulk", bulkForm(d, "retry-all", url.Values{"owner": {"acme"}}))
	require.Equal(t, []string{mine.ID}, rows(preview.body), "of those that match, the failed ones")
	require.Contains(t, preview.body, `href="/dashboard/jobs?owner=acme"`, "the way back keeps the filter")
	preview = d.post("/dashboard/jobs/bulk", bulkForm(d, "cancel-all", nil))
	require.Equal(t, []string{queued.ID}, rows(preview.body))
	preview = d.post("/dashboard/jobs/bulk", bulkForm(d, "retry-all", url.Values{"state": {"queued"}}))
	require.Contains(t, row(t, preview.body, queued.ID), "left alone")
	require.Equal(t, other.Revision, d.job(other.ID).Revision)
}

// More than one change takes is left out, and said so.
func TestBulkIsBounded(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	for range 503 {
		d.submitted(jobs.NewOp())
	}
	preview := d.post("/dashboard/jobs/bulk", bulkForm(d, "cancel-all", nil))
	require.Len(t, rows(preview.body), 500)
	require.Contains(t, preview.body, "there are more that match")
	form := confirmation(d, preview.body, "cancel")
	require.Len(t, form["job"], 500)
	outcome := d.post("/dashboard/jobs/bulk", form)
	require.Contains(t, outcome.body, "500 done, 0 not.")

	form["job"] = append(form["job"], form["job"][0])
	require.Equal(t, http.StatusBadRequest, d.post("/dashboard/jobs/bulk", form).status)

	var ids []string
	for range 501 {
		ids = append(ids, jobs.NewID("acme", jobs.NewOp()))
	}
	preview = d.post("/dashboard/jobs/bulk", bulkForm(d, "cancel", url.Values{"id": ids}))
	require.Contains(t, preview.body, "You chose 501 jobs; one change takes 500.")
}

func TestBulkIsChecked(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job := d.submitted("q")
	for _, do := range []string{"", "explode", "succeed", "fail-all", "wait"} {
		require.Equal(t, http.StatusBadRequest, d.post("/dashboard/jobs/bulk", bulkForm(d, do, url.Values{"id": {job.ID}})).status, do)
	}
	require.Contains(t, d.post("/dashboard/jobs/bulk", bulkForm(d, "cancel", nil)).body, "No job was ticked")
	preview := d.post("/dashboard/jobs/bulk", bulkForm(d, "cancel", url.Values{"id": {job.ID}}))
	form := confirmation(d, preview.body, "cancel")
	form.Set("reason", " ")
	answer := d.post("/dashboard/jobs/bulk", form)
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Contains(t, answer.body, "Say why")
	require.Contains(t, answer.body, `name="job" value="`+job.ID, "what was chosen is not lost")
	form.Set("reason", "x")
	for _, token := range []string{job.ID, job.ID + " 0 1-starting", job.ID + " x 1-starting", job.ID + " 1 1-running"} {
		form["job"] = []string{token}
		require.Contains(t, d.post("/dashboard/jobs/bulk", form).body, "0 done, 1 not.", token)
	}
	require.Equal(t, job.Revision, d.job(job.ID).Revision)
}
