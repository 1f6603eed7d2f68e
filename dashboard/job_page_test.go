package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/dashboard/payload"
	"onejob/jobs"
)

func TestJobPageTellsTheLife(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job, first := d.unknown("k", func(s *jobs.Submission) {
		s.Metadata, s.Params = json.RawMessage(`{"customer":"42"}`), json.RawMessage(`{"temperature":0.5}`)
		s.WebhookURL = "https://ann:pw@example.com/hook?token=secret#x"
	})
	require.Equal(t, http.StatusSeeOther, d.decide(job.ID, d.form(job.ID, "fail", 1, "continue", "1")).status)
	d.finalized(d.claimed(job.ID, 2), `{"ok":true}`)
	require.Equal(t, "slot_taken", d.finalized(first, `{"ok":false}`).Late)

	body := d.shown("/dashboard/jobs/" + job.ID)
	for _, what := range []string{
		"acme", "print", "laser", `id="version">3<`, "The job succeeded: it has its result",
		`id="tl-wide-title"`, `id="tl-narrow-title"`, `role="img"`, "answer: won", "declared failed by operator:operator-person",
		"late answer, discarded: another attempt had won", "Record kept until",
		"A late answer came", "/monitor/queues/inkjet/tasks/" + job.ID + "-a1", "Of attempt 2, at laser.",
		"&#34;ok&#34;: true", "&#34;customer&#34;: &#34;42&#34;", "&#34;temperature&#34;: 0.5", "late_result_discarded", "https://example.com/hook?…",
	} {
		require.Contains(t, body, what)
	}
	require.NotContains(t, body, "token=secret")
	require.NotContains(t, body, "ann:pw")
	require.NotContains(t, body, `data-action=`, "nothing can be done any more")
	for _, inline := range []string{" style=", "<style", " onclick=", "<script>"} {
		require.NotContains(t, body, inline, "the content policy allows nothing inline")
	}
}

func TestJobPageSaysWhetherItMayBeRetried(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	queued, failed := d.submitted("q"), d.failed("f")
	running := d.submitted("r")
	d.claimed(running.ID, 1)
	unknown, _ := d.unknown("u")
	listened := d.submitted("l")
	d.suspected(d.claimed(listened.ID, 1), "timeout", 0)
	cancelled := d.submitted("c")
	_, err := d.store.CancelJob(t.Context(), jobs.Decision{JobID: cancelled.ID, Actor: "acme"})
	require.NoError(t, err)
	held := d.submitted("h")
	require.NoError(t, d.store.Hold(t.Context(), held.ID, 1, "archived by an operator"))

	for id, want := range map[string][]string{
		queued.ID:    {"Not now. An attempt is waiting for a worker.", `data-action="cancel"`},
		running.ID:   {"Not now. An attempt is under way.", `data-action="cancel-attempt"`},
		unknown.ID:   {"a person has to find out and decide", `data-action="succeed"`},
		listened.ID:  {"It may still settle by itself", "It is listened to until"},
		failed.ID:    {"Yes. Every attempt has a definite end", `data-action="retry"`, "rejected", "no paper", "/monitor/queues/operator/tasks/" + failed.ID + "-retry-v1"},
		cancelled.ID: {"No. A person ended the job, for good."},
		held.ID:      {"held back by an operator", "archived by an operator", "/monitor/queues/inkjet/tasks"},
	} {
		body := d.shown("/dashboard/jobs/" + id)
		for _, what := range want {
			require.Contains(t, body, what)
		}
	}
}

func TestJobPageRedacts(t *testing.T) {
	t.Parallel()
	d := deskOf(t, redacting(t, "*.password", "input.card.number", "evidence.error", "error"))
	job := d.failed("k", func(s *jobs.Submission) {
		s.Input = json.RawMessage(`{"card":{"number":"4111","name":"ann"},"list":[{"password":"hunter2"}]}`)
	})
	body := d.shown("/dashboard/jobs/" + job.ID)
	for _, secret := range []string{"4111", "hunter2", "i/o timeout", "no paper"} {
		require.NotContains(t, body, secret)
	}
	require.Contains(t, body, "ann")
	require.Contains(t, body, "2 values are redacted by the configuration")
	require.Contains(t, body, "⟦redacted⟧")

	unknown, _ := d.unknown("u")
	require.NoError(t, d.store.Look(t.Context(), unknown.ID, 1, "the password is hunter2"))
	for _, path := range []string{"/dashboard/unknown", "/dashboard/jobs/" + unknown.ID, "/dashboard/jobs/" + unknown.ID + "/decide?action=fail&attempt=1"} {
		body = d.shown(path)
		require.NotContains(t, body, "i/o timeout", path)
		require.NotContains(t, body, "hunter2", path)
	}
}

// What callers and providers wrote stays text, and what is invisible is shown.
func TestJobPageShowsHostileTextAsText(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	const script = `</script></pre><script>alert(1)</script><img src=x onerror=alert(1)>`
	hostile, err := json.Marshal(map[string]string{
		"javascript:alert(1)": script, "rtl": "\u202egnp.exe", "ls": "\u2028\u2029", "nul": "\x00", "attr": `" onmouseover="alert(1)`,
	})
	require.NoError(t, err)
	job := d.submitted(`<b>key</b>"'`, func(s *jobs.Submission) {
		s.Owner, s.Input, s.Metadata, s.Params = `<i>owner</i>`, hostile, hostile, hostile
	})
	c := d.claimed(job.ID, 1)
	ok, err := d.store.Suspect(t.Context(), jobs.Suspicion{
		JobID: job.ID, Attempt: 1, Token: c.Token, Reason: script, Actor: script + "\u202e",
		Evidence: json.RawMessage(`{"error":` + string(mustJSON(t, script+"\u202e")) + `,"request_id":` + string(mustJSON(t, script)) + `}`),
	})
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, d.store.Accept(t.Context(), c, script, "worker-1"))
	require.NoError(t, d.store.Look(t.Context(), job.ID, 1, script+"\u202e"))
	for _, path := range []string{"/dashboard/unknown", "/dashboard/jobs", "/dashboard/jobs/" + job.ID, "/dashboard/jobs/" + job.ID + "/decide?action=fail&attempt=1"} {
		body := d.shown(path)
		for _, live := range []string{"<script>alert", "<img src=x", `" onmouseover="`, "<b>key", "<i>owner", `href="javascript:`} {
			require.NotContains(t, body, live, "%s: %s", path, live)
		}
		for _, invisible := range []string{"\u202e", "\u2028", "\u2029", "\x00"} {
			require.NotContains(t, body, invisible, path)
		}
		require.Contains(t, body, "&lt;b&gt;key", path)
	}
	body := d.shown("/dashboard/jobs/" + job.ID)
	require.Contains(t, body, `\u202egnp.exe`)
	require.Contains(t, body, `⟨U&#43;202E⟩`)
	form := d.form(job.ID, "wait", 1, "reason", script+"\u202e", "step", "review")
	answer := d.decide(job.ID, form)
	require.NotContains(t, answer.body, "<script>alert")
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// However large a payload is, the page is not, and says what it leaves out.
func TestJobPageCapsPayloads(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	job := d.submitted("k", func(s *jobs.Submission) {
		s.Input = json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	})
	d.finalized(d.claimed(job.ID, 1), `["`+strings.Repeat("y", 7<<20)+`"]`)
	body := d.shown("/dashboard/jobs/" + job.ID)
	require.Less(t, len(body), 2*payload.Most+100<<10)
	require.Contains(t, body, "960.0 KiB of 1.0 MiB are not shown")
	require.Contains(t, body, "6.9 MiB of 7.0 MiB are not shown")
}

func TestJobPageOfNoJob(t *testing.T) {
	t.Parallel()
	d := deskOf(t)
	expired := d.failed("k")
	d.redis.FastForward(73 * time.Hour)
	d.redis.SetTime(time.Now().Add(73 * time.Hour))
	d.browser = d.site.signedIn(d.operator)
	for _, id := range []string{jobs.NewID("acme", "never"), "job_1", "<script>", expired.ID} {
		for _, path := range []string{"/dashboard/jobs/" + id, "/dashboard/jobs/" + id + "/decide?action=cancel"} {
			answer := d.get(strings.ReplaceAll(path, "<", "%3C"))
			require.Equal(t, http.StatusNotFound, answer.status, path)
			require.NotContains(t, answer.body, "<script>")
		}
	}
}
