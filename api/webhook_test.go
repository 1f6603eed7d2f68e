package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/jobs"
)

const hookURL = "https://receiver.example/hook"

// taking is an API whose webhooks are judged by check.
func taking(check func(owner, address string) error) func(*api.Config) {
	return func(c *api.Config) {
		c.CheckWebhook = func(_ context.Context, owner, address string) error { return check(owner, address) }
	}
}

func (b *bundle) submitAs(key, idempotencyKey, body string) *reply {
	b.t.Helper()
	return b.post(key, "/v1/jobs", body, "Idempotency-Key", idempotencyKey)
}

func hookBody(address string) string {
	return fmt.Sprintf(`{"route":"print","input":1,"webhook_url":%q}`, address)
}

func TestSubmit_Webhook(t *testing.T) {
	t.Parallel()
	b := setup(t, taking(func(owner, address string) error {
		switch {
		case owner == "other":
			return &api.WebhookRefusal{Why: "there is no secret to sign its deliveries with", Hint: "Run this."}
		case strings.Contains(address, "10.0.0.1"):
			return &api.WebhookRefusal{Why: "the address is not a public one"}
		}
		return nil
	}))
	job := b.submitAs(devKey, "k1", hookBody(hookURL)).is(http.StatusAccepted).job()
	require.Equal(t, hookURL, job.WebhookURL)

	p := b.submitAs(otherKey, "k1", hookBody(hookURL)).problem(http.StatusBadRequest, "request-invalid")
	require.Equal(t, "webhook_url", p.Field)
	require.Equal(t, "The field webhook_url is refused: there is no secret to sign its deliveries with.", p.Detail)
	require.Equal(t, "Run this.", p.Hint)
	p = b.submitAs(devKey, "k2", hookBody("https://10.0.0.1/")).problem(http.StatusBadRequest, "request-invalid")
	require.Contains(t, p.Detail, "not a public one")
	long := "https://receiver.example/" + strings.Repeat("a", 2048)
	p = b.submitAs(devKey, "k3", hookBody(long)).problem(http.StatusBadRequest, "request-invalid")
	require.Contains(t, p.Detail, "longer than 2048 bytes")
	b.submitAs(devKey, "k1", hookBody(hookURL+"/other")).problem(http.StatusConflict, "idempotency-key-reused")
}

// A job that was taken is found again under its key, though its webhook would be
// refused today.
func TestSubmit_WebhookThatIsRefusedByNow(t *testing.T) {
	t.Parallel()
	var refusal error
	b := setup(t, taking(func(string, string) error { return refusal }))
	job := b.submitAs(devKey, "k1", hookBody(hookURL)).is(http.StatusAccepted).job()
	refusal = &api.WebhookRefusal{Why: "the rules have changed"}
	again := b.submitAs(devKey, "k1", hookBody(hookURL)).is(http.StatusAccepted)
	require.Equal(t, job.ID, again.job().ID)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	b.submitAs(devKey, "k2", hookBody(hookURL)).problem(http.StatusBadRequest, "request-invalid")
	refusal = errors.New("the store is away")
	p := b.submitAs(devKey, "k3", hookBody(hookURL)).problem(http.StatusServiceUnavailable, "store-unavailable")
	require.NotContains(t, p.Detail, "away", "the cause is for the log")
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	b := setup(t, taking(func(string, string) error { return nil }))
	job := b.submitAs(devKey, "k1", hookBody(hookURL)).is(http.StatusAccepted).job()
	b.decide(devKey, job, "/webhooks/1/redeliver", "").problem(http.StatusNotFound, "not-found")
	b.finalize(b.claim(job, 1), `{}`)
	token := jobs.NewOp()
	try, err := b.store.TakeWebhook(t.Context(), job.ID, 1, token, time.Minute)
	require.NoError(t, err)
	require.Equal(t, 1, try)
	_, err = b.store.ReportWebhook(t.Context(), jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Gone: true, Status: 410, Error: "answered 410"})
	require.NoError(t, err)

	shown := b.get(devKey, "/v1/jobs/"+job.ID).is(http.StatusOK).job()
	require.Len(t, shown.Webhooks, 1)
	require.Equal(t, jobs.WebhookDisabled, shown.Webhooks[0].State)
	require.Equal(t, 410, shown.Webhooks[0].LastStatus)

	b.decide(viewerKey, job, "/webhooks/1/redeliver", "").problem(http.StatusForbidden, "forbidden")
	b.decide(otherKey, job, "/webhooks/1/redeliver", "").problem(http.StatusNotFound, "not-found")
	for _, n := range []string{"0", "x", "-1", "99999999999"} {
		b.decide(devKey, job, "/webhooks/"+n+"/redeliver", "").problem(http.StatusNotFound, "not-found")
	}
	p := b.decide(devKey, job, "/webhooks/2/redeliver", "").problem(http.StatusNotFound, "not-found")
	require.Contains(t, p.Detail, "no webhook delivery with that number")
	b.decide(devKey, job, "/webhooks/1/redeliver", `{"force":true}`).problem(http.StatusBadRequest, "request-invalid")
	b.decide(devKey, job, "/webhooks/1/redeliver", "", "If-Match", `"v1"`).problem(http.StatusPreconditionFailed, "version-mismatch")

	for _, key := range []string{devKey, operatorKey} {
		again := b.decide(key, job, "/webhooks/1/redeliver", `{"reason":"they lost it"}`).is(http.StatusOK).job()
		require.Equal(t, jobs.WebhookPending, again.Webhooks[0].State)
		require.Equal(t, shown.Webhooks[0].ID, again.Webhooks[0].ID)
	}
	require.Equal(t, "h1 job.succeeded: they lost it", b.event(job, "redeliver").Reason)
}
