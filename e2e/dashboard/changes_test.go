package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProvider_IsPausedAndResumed: nothing starts while it is paused, and who did it
// and why is said.
func TestProvider_IsPausedAndResumed(t *testing.T) {
	t.Parallel()
	s, p := signedIn(t)
	s.await(s.submit("before", "plot", works), "succeeded")
	p.visit("/dashboard/providers")
	p.run(click("#pause-laser summary"), write("#reason-laser", "Out of ink."), click("#pause-laser button"), see("#resume-laser"))
	require.Contains(t, p.text("main"), "Out of ink.")
	p.picture("provider-paused")
	held := s.submit("held", "plot", works)
	s.await(s.submit("other", "print", works), "succeeded")
	require.Equal(t, "queued", s.get(held).State)

	p.run(click("#resume-laser summary"), write("#reason-laser", "Refilled."), click("#resume-laser button"), see("#pause-laser"))
	s.await(held, "succeeded")
	p.visit("/dashboard/audit")
	require.Contains(t, p.text("main"), "Out of ink.")
	require.Contains(t, p.text("main"), "Refilled.")
	p.quiet()
}

// TestWebhook_IsRedelivered: the receiver gets the same event again, under its id.
func TestWebhook_IsRedelivered(t *testing.T) {
	t.Parallel()
	ids := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ids <- r.Header.Get("webhook-id") }))
	defer receiver.Close()
	next := func() string {
		select {
		case id := <-ids:
			return id
		case <-time.After(30 * time.Second):
			require.Fail(t, "no delivery came")
			return ""
		}
	}
	s, p := signedIn(t)
	status, answer, err := s.call(http.MethodPost, "/v1/jobs", "dev-key",
		`{"route":"plot","input":"Hello","webhook_url":"`+receiver.URL+`"}`, "Idempotency-Key", "hook")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, status, string(answer))
	id := s.read(answer).ID
	first := next()
	p.visit("/dashboard/jobs/" + id)
	p.eventually(`document.querySelector("main").innerText.includes("delivered")`, "the delivery is on the job")
	p.picture("delivered")
	p.run(click("#redeliver-1 summary"), write("#redeliver-reason-1", "They lost it."), click("#redeliver-1 button"), see("#said"))
	require.Equal(t, first, next())
	require.True(t, strings.HasPrefix(first, id))
	p.quiet()
}
