package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/audit"
	"onejob/jobs"
)

func withHook(s *jobs.Submission) { s.WebhookURL = "https://example.com/hook?token=secret" }

func TestJobPageShowsDeliveries(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job := d.failed("k", withHook)
	require.Len(t, job.Webhooks, 1)
	body := d.shown("/dashboard/jobs/" + job.ID)
	within := section(t, body, "webhooks", "input")
	for _, what := range []string{"job.failed", "pending", "not tried yet", job.Webhooks[0].ID, "Deliver again", "does its work twice"} {
		require.Contains(t, within, what)
	}
	require.NotContains(t, body, "token=secret")
	require.NotContains(t, d.as(d.viewer).shown("/dashboard/jobs/"+job.ID), "Deliver again")
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job := d.failed("k", withHook)
	path := "/dashboard/jobs/" + job.ID + "/webhooks/1/redeliver"
	form := url.Values{"csrf": {d.csrf()}, "reason": {"their server was down"}, "op": {jobs.NewOp()}}
	for range 2 {
		answer := d.post(path, form)
		require.Equal(t, http.StatusSeeOther, answer.status, answer.body)
	}
	count := 0
	for _, line := range d.verbs(job.ID) {
		if line == "redeliver operator:operator-person" {
			count++
		}
	}
	require.Equal(t, 1, count, "sent twice, done once: %v", d.verbs(job.ID))
	entry := d.trail()[0]
	require.Equal(t, []string{"redeliver-webhook", job.ID + " delivery 1", "their server was down", string(audit.Done)},
		[]string{entry.Action, entry.Target, entry.Reason, string(entry.Outcome)})

	form.Set("reason", "")
	require.Equal(t, http.StatusBadRequest, d.post(path, form).status)
	form.Set("reason", "x")
	for _, wrong := range []string{"/webhooks/7/redeliver", "/webhooks/0/redeliver", "/webhooks/x/redeliver"} {
		require.Equal(t, http.StatusNotFound, d.post("/dashboard/jobs/"+job.ID+wrong, form).status, wrong)
	}
	v := d.as(d.viewer)
	form.Set("csrf", v.csrf())
	require.Equal(t, http.StatusForbidden, v.post(path, form).status)
}
