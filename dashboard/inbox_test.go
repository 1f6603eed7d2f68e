package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// section is what stands between the beginning of an element with an id and the end
// of it, as near as texts tell: the beginning of another.
func section(t *testing.T, body, id, next string) string {
	t.Helper()
	_, after, found := strings.Cut(body, `id="`+id+`"`)
	require.True(t, found, "no %s in %s", id, body)
	within, _, _ := strings.Cut(after, `id="`+next+`"`)
	return within
}

func TestInboxKeepsApartWhatNeedsAPerson(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	lost, _ := d.unknown("lost")
	listened := d.submitted("listened")
	d.suspected(d.claimed(listened.ID, 1), "timeout", 0)
	asked := d.submitted("asked")
	d.suspected(d.claimed(asked.ID, 1), "connection_lost", time.Hour)
	running := d.submitted("running")
	d.claimed(running.ID, 1)

	body := d.shown("/dashboard/unknown")
	person, itself := section(t, body, "needs-person", "settles-itself"), section(t, body, "settles-itself", "none")
	require.Contains(t, person, lost.ID)
	require.NotContains(t, person, listened.ID)
	require.NotContains(t, person, asked.ID)
	require.Contains(t, itself, listened.ID)
	require.Contains(t, itself, "Its call is listened to until")
	require.Contains(t, itself, asked.ID)
	require.Contains(t, itself, "Asked again")
	require.NotContains(t, body, running.ID)

	for _, what := range []string{"acme", "print", "inkjet", "412 B sent, the first at 12:00:00.100 UTC.", "Nothing came back.", "i/o timeout", "the connection broke"} {
		require.Contains(t, person, what)
	}
	for _, action := range []string{"wait", "succeed", "fail", "cancel-attempt", "cancel"} {
		require.Contains(t, person, `data-action="`+action+`"`)
	}
	require.Contains(t, person, "you could be charged twice", "the risk is named")
	require.NotContains(t, person, `data-action="retry"`, "no attempt opens over an unknown one")
}

func TestInboxSaysWhatLookUpsSaid(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job, _ := d.unknown("k", onRoute("draft"))
	require.NoError(t, d.store.Look(t.Context(), job.ID, 1, "lookup_absent: <b>404</b>"))
	body := d.shown("/dashboard/unknown")
	require.Contains(t, body, "lookup_absent: &lt;b&gt;404&lt;/b&gt;")
	require.Contains(t, body, "its calls change nothing")
	require.NotContains(t, section(t, body, "unknown-"+job.ID, "none"), "If the provider did the work of attempt 1")
}

func TestInboxShowsTheLongestUnknownFirst(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	first, second := d.submitted("created first"), d.submitted("created second")
	c1, c2 := d.claimed(first.ID, 1), d.claimed(second.ID, 1)
	d.suspected(c2, "connection_lost", 0)
	d.redis.SetTime(time.Now().Add(time.Minute))
	d.suspected(c1, "connection_lost", 0)
	body := d.shown("/dashboard/unknown")
	require.Less(t, strings.Index(body, second.ID), strings.Index(body, first.ID))
}

func TestInboxIsEmpty(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	body := d.shown("/dashboard/unknown")
	require.Contains(t, body, "Nothing needs you.")
	require.Contains(t, body, "Nothing is under watch.")
	answer := d.get("/dashboard/unknown?after=nonsense")
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Contains(t, answer.body, "begin at the first")
}

// A viewer sees everything and is offered nothing; what he asks for all the same is
// refused by the server.
func TestViewersAreOfferedNothing(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job, _ := d.unknown("k")
	failed := d.failed("f")
	v := d.as(d.viewer)
	for _, path := range []string{"/dashboard/unknown", "/dashboard/jobs", "/dashboard/jobs/" + job.ID, "/dashboard/jobs/" + failed.ID} {
		body := v.shown(path)
		require.NotContains(t, body, "/decide", path)
		require.NotContains(t, body, `type="checkbox"`, path)
		require.NotContains(t, body, `id="bulk-retry"`, path)
		require.Contains(t, body, "acme", path)
	}
	answer := v.get("/dashboard/jobs/" + job.ID + "/decide?action=fail&attempt=1")
	require.Equal(t, http.StatusForbidden, answer.status)

	form := d.form(job.ID, "fail", 1)
	form.Set("csrf", v.csrf())
	require.Equal(t, http.StatusForbidden, v.decide(job.ID, form).status)
	answer = v.post("/dashboard/jobs/bulk", url.Values{"csrf": {v.csrf()}, "do": {"cancel"}, "id": {job.ID}})
	require.Equal(t, http.StatusForbidden, answer.status)
	require.Equal(t, jobs.Unknown, d.job(job.ID).State)
	require.Equal(t, job.Revision, d.job(job.ID).Revision)
}
