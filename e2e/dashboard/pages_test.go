package dashboard

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// signedIn is a process and an operator's browser at it.
func signedIn(t *testing.T) (*server, *page) {
	t.Helper()
	s := startServer(t)
	p := open(t, s.base, desk)
	p.signIn("dev-operator-key")
	return s, p
}

// decide fills in the form that a button leads to, up to where its consequence is
// named and can be confirmed.
func (p *page) decide(button, result, reason string) {
	p.t.Helper()
	p.run(click(button), see("#decide"))
	if result != "" {
		p.run(write("#result", result))
	}
	p.run(write("#reason", reason), click("#review-button"), see("#confirm"))
}

// TestInbox_IsResolved: what needs a person is there, with its evidence; he
// decides, reads what it risks, and confirms; the job and the audit log say so.
func TestInbox_IsResolved(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	id := s.submit("click", "print", hangs)
	s.await(id, "unknown")
	p.visit("/dashboard/unknown")
	p.eventually(`document.querySelector("#needs-person #unknown-`+id+`") !== null`, "it needs a person")
	card := p.text("#unknown-" + id)
	for _, words := range []string{"dev", "print", "inkjet", "click", "not listened to"} {
		require.Contains(t, card, words)
	}
	p.picture("inbox")

	p.run(click("#unknown-"+id+` [data-action="fail"]`), see("#decide"))
	require.Equal(t, "unknown", s.get(id).State, "nothing is decided by looking")
	p.run(write("#reason", "The printer's log has no such page."), click("#review-button"), see("#review"))
	require.Equal(t, "unknown", s.get(id).State, "nothing is decided before it is confirmed")
	review := p.text("#review")
	require.Contains(t, review, "The printer's log has no such page.")
	require.Regexp(t, "(?i)twice|second time|again", review, "the consequence is named")
	p.picture("review")
	p.run(click("#confirm"), see("#said"))
	j := s.get(id)
	require.Equal(t, "failed", j.State)
	require.Equal(t, "failed", j.Attempts[0].State)

	p.visit("/dashboard/audit")
	require.Contains(t, p.text("main"), "The printer's log has no such page.")
	p.picture("audit")
	p.quiet()
}

// TestInbox_SucceedsWithAResult: what the provider did is written down by hand.
func TestInbox_SucceedsWithAResult(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	id := s.submit("click", "print", hangs)
	s.await(id, "unknown")
	p.visit("/dashboard/unknown")
	p.decide("#unknown-"+id+` [data-action="succeed"]`, `{"pages": 1}`, "I saw the page.")
	require.Equal(t, "unknown", s.get(id).State, "nothing is decided before it is confirmed")
	p.run(click("#confirm"), see("#said"))
	j := s.get(id)
	require.Equal(t, "succeeded", j.State)
	require.Equal(t, 1, j.CompletedBy)
	require.JSONEq(t, `{"pages":1}`, string(j.Result))
	p.picture("succeeded-by-hand")
	p.quiet()
}

// TestJob_IsRetried from its page.
func TestJob_IsRetried(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	id := s.submit("click", "print", rejects)
	s.await(id, "failed")
	p.visit("/dashboard/jobs/" + id)
	require.Contains(t, p.text("main"), "click")
	p.picture("job-failed")
	p.decide(`[data-action="retry"]`, "", "Paper is in again.")
	p.run(click("#confirm"), see("#said"))
	j := s.await(id, "succeeded")
	require.Len(t, j.Attempts, 2)
	require.Equal(t, 2, j.CompletedBy)
	p.eventually(`document.querySelectorAll("main svg").length > 0 && document.querySelector("main").innerText.includes("succeeded")`, "the page follows")
	p.picture("job-retried")
	p.quiet()
}

// hostile is an input that would like to be a page.
var hostile, _ = json.Marshal(map[string]any{
	"page":   `</pre></script><script>window.pwned = 1</script><img src=x onerror="window.pwned = 2"><svg onload="window.pwned = 3">`,
	"secret": "hunter2",
	// The simulated provider would echo it all.
	"simulate": map[string]any{"laser": map[string]any{"result": "done"}},
})

// TestJob_AScriptStaysText, also under keys and owners' texts, and what the
// configuration redacts is not shown.
func TestJob_AScriptStaysText(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	id := s.submit("<script>window.pwned=4</script>", "plot", string(hostile))
	s.await(id, "succeeded")
	for _, path := range []string{"/dashboard/jobs/" + id, "/dashboard/jobs"} {
		p.visit(path)
		require.True(t, eval[bool](p, `window.pwned === undefined`), path)
		require.Zero(t, eval[int](p, `document.querySelectorAll("main script, main img[src=x]").length`), path)
	}
	p.visit("/dashboard/jobs/" + id)
	text := p.text("main")
	require.Contains(t, text, "<script>window.pwned = 1</script>")
	require.Contains(t, text, "onerror=")
	require.NotContains(t, text, "hunter2")
	p.picture("job-hostile")
	p.quiet()
}

// TestJobs_FollowLive without being loaded again; paused, they stand still.
func TestJobs_FollowLive(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	p.visit("/dashboard/jobs")
	p.run(chromedp.Evaluate[chromedp.Void](`window.same = true`))
	first := s.submit("first", "plot", works)
	p.eventually(`document.getElementById("row-`+first+`") !== null`, "the new job comes by itself")
	p.eventually(`document.getElementById("row-`+first+`").innerText.includes("succeeded")`, "and its end")
	require.True(t, eval[bool](p, `window.same === true`), "the page was not loaded again")

	p.run(click("#live-toggle"))
	require.Equal(t, "false", eval[string](p, `document.getElementById("live-toggle").getAttribute("aria-pressed")`))
	second := s.submit("second", "plot", works)
	s.await(second, "succeeded")
	third := open(t, s.base, desk) // somebody else sees it, so it was told
	third.signIn("dev-operator-key")
	third.visit("/dashboard/jobs")
	third.eventually(`document.getElementById("row-`+second+`") !== null`, "others see it")
	require.False(t, eval[bool](p, `document.getElementById("row-`+second+`") !== null`), "paused, the list stands still")
	p.run(click("#live-toggle"))
	p.eventually(`document.getElementById("row-`+second+`") !== null`, "resumed, it catches up")
	p.quiet()
}

// TestBulk_PreviewsAndTellsEach: failed jobs are retried together; what cannot be
// is said beforehand.
func TestBulk_PreviewsAndTellsEach(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	failed, done := s.submit("bad", "print", rejects), s.submit("good", "plot", works)
	s.await(failed, "failed")
	s.await(done, "succeeded")
	p.visit("/dashboard/jobs")
	p.run(click("#tick-"+failed), click("#tick-"+done), click("#bulk-retry"),
		see("#reason"))
	require.Len(t, s.get(failed).Attempts, 1, "a preview does nothing")
	require.Contains(t, p.text("main"), failed)
	require.Contains(t, p.text("main"), done)
	p.picture("bulk-preview")
	p.run(write("#reason", "Paper is in again."), click("#confirm"))
	require.Len(t, s.await(failed, "succeeded").Attempts, 2)
	require.Len(t, s.get(done).Attempts, 1)
	p.eventually(`document.querySelector("main").innerText.includes("`+failed+`")`, "each is told of")
	p.picture("bulk-done")
	p.quiet()
}

// TestKeyboard_SkipsTheNavigation and reaches the first filter.
func TestKeyboard_SkipsTheNavigation(t *testing.T) {
	t.Parallel()
	_, p := signedIn(t)
	p.visit("/dashboard/jobs")
	p.run(chromedp.KeyEvent(kb.Tab))
	require.Equal(t, "skip", eval[string](p, `document.activeElement.className`))
	require.True(t, eval[bool](p, `document.activeElement.getBoundingClientRect().top >= 0`), "it can be seen")
	p.run(chromedp.KeyEvent(kb.Enter))
	p.eventually(`document.activeElement.id === "main"`, "the content has the focus")
	p.run(chromedp.KeyEvent(kb.Tab))
	require.Equal(t, "state", eval[string](p, `document.activeElement.id`))
	require.NotEqual(t, "none 0px", eval[string](p, `(s => s.outlineStyle + " " + s.outlineWidth)(getComputedStyle(document.activeElement))`), "the focus is seen")
	p.quiet()
}

// TestMonitor_OpensWithTheSameLogin, its scripts included.
func TestMonitor_OpensWithTheSameLogin(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	id := s.submit("bad", "print", rejects)
	s.await(id, "failed")
	p.run(chromedp.Navigate(s.base + "/monitor"))
	p.eventually(`document.body.innerText.includes("operator")`, "asynqmon lists its queues")
	p.picture("monitor")
	status, _, err := s.call(http.MethodGet, "/monitor/api/queues", "", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status)
}
