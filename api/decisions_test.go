package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// decide posts a decision about a job.
func (b *bundle) decide(key string, job *jobs.Job, call, body string, headers ...string) *reply {
	b.t.Helper()
	return b.post(key, "/v1/jobs/"+job.ID+call, body, headers...)
}

// event is the entry of a job's trail for a verb.
func (b *bundle) event(job *jobs.Job, verb string) jobs.Event {
	b.t.Helper()
	events, err := b.store.Events(b.t.Context(), job.ID, "", 1000)
	require.NoError(b.t, err)
	for _, event := range events {
		if event.Verb == verb {
			return event
		}
	}
	require.FailNow(b.t, "not in the trail", "%s: %+v", verb, events)
	return jobs.Event{}
}

func TestCancelJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	answer := b.decide(devKey, job, "/cancel", `{"reason":"sent by mistake"}`).is(http.StatusOK)
	require.Equal(t, jobs.Cancelled, answer.job().State)
	require.True(t, strings.HasPrefix(answer.header.Get("ETag"), `"v2.`))
	require.Equal(t, "dev", b.event(job, "cancel").Actor)
	require.Equal(t, "sent by mistake", b.event(job, "cancel").Reason)

	again := b.decide(devKey, job, "/cancel", "")
	require.Equal(t, job.ID, again.problem(http.StatusConflict, "job-final").Job)
	require.Equal(t, "false", again.header.Get("X-Should-Retry"))
	b.decide(devKey, job, "/attempts", "").problem(http.StatusConflict, "job-final")
}

func TestCancelJobWithoutABody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, jobs.Cancelled, b.decide(devKey, b.made("k1"), "/cancel", "").is(http.StatusOK).job().State)
	job := b.made("k2")
	b.finalize(b.claim(job, 1), `{}`)
	b.decide(devKey, job, "/cancel", "").problem(http.StatusConflict, "job-final")
}

func TestOpenAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	b.woken()
	b.fail(b.claim(job, 1))
	answer := b.decide(devKey, job, "/attempts", `{"provider":"laser","reason":"inkjet is dry"}`).is(http.StatusCreated)
	require.Equal(t, "/v1/jobs/"+job.ID, answer.header.Get("Location"))
	opened := answer.job()
	require.Len(t, opened.Attempts, 2)
	require.Equal(t, "laser", opened.Attempts[1].Provider)
	require.Equal(t, jobs.Queued, opened.State)
	require.Equal(t, int64(2), opened.Version, "a failed job was reopened")
	wake := b.woken()
	require.Equal(t, 2, wake.Attempt)
	require.Equal(t, "laser", wake.Provider)
}

func TestOpenAttemptDefaultsToTheLatestProvider(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.submit("k1", `{"route":"print","input":1,"provider":"laser"}`).is(http.StatusAccepted).job()
	b.fail(b.claim(job, 1))
	require.Equal(t, "laser", b.decide(devKey, job, "/attempts", "").is(http.StatusCreated).job().Attempts[1].Provider)
}

func TestOpenAttemptWhileOneIsOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	answer := b.decide(devKey, job, "/attempts", "")
	p := answer.problem(http.StatusConflict, "attempt-unresolved")
	require.Equal(t, "false", answer.header.Get("X-Should-Retry"))
	require.Equal(t, job.ID, p.Job)
	require.Equal(t, 1, p.Attempt.Number)
	require.Equal(t, jobs.AttemptStarting, p.Attempt.State)
	require.Contains(t, p.Hint, "/v1/jobs/"+job.ID+"/attempts/1/cancel")

	b.suspect(b.claim(job, 1))
	p = b.decide(devKey, job, "/attempts", "").problem(http.StatusConflict, "attempt-unresolved")
	require.Equal(t, jobs.AttemptUnknown, p.Attempt.State)
	require.Equal(t, "timeout", p.Attempt.Reason)
	require.False(t, p.Attempt.Since.IsZero(), "%+v", p.Attempt)
	require.WithinDuration(t, time.Now().Add(time.Minute), p.Attempt.ListeningUntil.Go(), 10*time.Second)
	require.Contains(t, p.Detail, "unknown (timeout)")
	require.Contains(t, p.Hint, "/attempts/1/resolve")
	require.Contains(t, p.Hint, "/attempts/1/cancel")
}

func TestOpenAttemptRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	for body, field := range map[string]string{
		`{"provider":"flatbed"}`: "provider", `{"provider":1}`: "provider", `{"provider":""}`: "provider",
		`{"reason":1}`: "reason", `{"why":"x"}`: "why", `{"reason":"` + strings.Repeat("x", 501) + `"}`: "reason", `[]`: "",
	} {
		p := b.decide(devKey, job, "/attempts", body).problem(http.StatusBadRequest, "request-invalid")
		require.Equal(t, field, p.Field, body)
	}
	b.decide(devKey, job, "/attempts", `{}`, "Content-Type", "text/plain").problem(http.StatusUnsupportedMediaType, "media-type-unsupported")
	b.decide(devKey, job, "/cancel", `{"reason":"`+strings.Repeat("x", 1<<20)+`"}`).problem(http.StatusRequestEntityTooLarge, "request-too-large")
}

func TestCancelAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknown("k1")
	answer := b.decide(devKey, job, "/attempts/1/cancel", `{"reason":"checked the tray, nothing there"}`).is(http.StatusOK).job()
	require.Equal(t, jobs.AttemptCancelled, answer.Attempts[0].State)
	require.Equal(t, jobs.Failed, answer.State)
	require.Len(t, answer.Attempts, 1, "opens nothing by itself")

	p := b.decide(devKey, job, "/attempts/1/cancel", `{"reason":"again"}`).problem(http.StatusConflict, "attempt-settled")
	require.Equal(t, 1, p.Attempt.Number)
	b.decide(devKey, job, "/attempts/7/cancel", `{"reason":"x"}`).problem(http.StatusNotFound, "not-found")
	for _, n := range []string{"0", "-1", "x", "1.0", "99999999999999999999"} {
		b.decide(devKey, job, "/attempts/"+n+"/cancel", `{"reason":"x"}`).problem(http.StatusNotFound, "not-found")
	}
}

func TestCancelAttemptThenContinue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknown("k1")
	b.woken()
	answer := b.decide(devKey, job, "/attempts/1/cancel", `{"reason":"try the other","then":"continue"}`).is(http.StatusOK).job()
	require.Len(t, answer.Attempts, 2)
	require.Equal(t, "laser", answer.Attempts[1].Provider, "by the route's plan")
	require.Equal(t, 2, b.woken().Attempt)
}

func TestCancelAttemptRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknown("k1")
	for body, field := range map[string]string{
		``: "reason", `{}`: "reason", `{"reason":""}`: "reason", `{"reason":"x","then":"stop"}`: "then",
		`{"reason":"x","then":null}`: "then", `{"reason":"x","outcome":"failed"}`: "outcome",
	} {
		p := b.decide(devKey, job, "/attempts/1/cancel", body).problem(http.StatusBadRequest, "request-invalid")
		require.Equal(t, field, p.Field, body)
	}
}

func TestResolveIsForOperators(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknown("k1")
	body := `{"outcome":"failed","reason":"x"}`
	b.decide(devKey, job, "/attempts/1/resolve", body).problem(http.StatusForbidden, "forbidden")
	b.decide(otherKey, job, "/attempts/1/resolve", body).problem(http.StatusForbidden, "forbidden")
	b.decide(viewerKey, job, "/attempts/1/resolve", body).problem(http.StatusForbidden, "forbidden")
	b.decide("", job, "/attempts/1/resolve", body).problem(http.StatusUnauthorized, "unauthorized")
	require.Equal(t, jobs.Unknown, b.get(devKey, "/v1/jobs/"+job.ID).job().State)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	b := setup(t)

	won := b.unknown("succeeded")
	answer := b.decide(operatorKey, won, "/attempts/1/resolve", `{"outcome":"succeeded","result":{"pages":2},"reason":"seen in the tray"}`)
	job := answer.is(http.StatusOK).job()
	require.Equal(t, jobs.Succeeded, job.State)
	require.JSONEq(t, `{"pages":2}`, string(job.Result))
	require.Equal(t, 1, job.CompletedBy)
	require.Equal(t, "operator:ops", b.event(won, "resolve").Actor)

	failed := b.unknown("failed")
	job = b.decide(operatorKey, failed, "/attempts/1/resolve", `{"outcome":"failed","reason":"never arrived"}`).is(http.StatusOK).job()
	require.Equal(t, jobs.Failed, job.State)
	require.Equal(t, jobs.AttemptFailed, job.Attempts[0].State)
	p := b.decide(operatorKey, failed, "/attempts/1/resolve", `{"outcome":"failed","reason":"x"}`).problem(http.StatusConflict, "attempt-settled")
	require.Equal(t, jobs.AttemptFailed, p.Attempt.State)

	goesOn := b.unknown("continue")
	job = b.decide(operatorKey, goesOn, "/attempts/1/resolve", `{"outcome":"failed","reason":"x","then":"continue"}`).is(http.StatusOK).job()
	require.Len(t, job.Attempts, 2)

	running := b.made("running")
	b.claim(running, 1)
	p = b.decide(operatorKey, running, "/attempts/1/resolve", `{"outcome":"failed","reason":"x"}`).problem(http.StatusConflict, "attempt-not-unknown")
	require.Equal(t, jobs.AttemptRunning, p.Attempt.State)
	b.decide(operatorKey, running, "/attempts/1/resolve", `{"outcome":"cancelled","reason":"x"}`).is(http.StatusOK)
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknown("k1")
	for body, field := range map[string]string{
		`{"reason":"x"}`: "outcome", `{"outcome":"done","reason":"x"}`: "outcome", `{"outcome":1,"reason":"x"}`: "outcome",
		`{"outcome":"failed"}`: "reason", `{"outcome":"succeeded","reason":"x"}`: "result",
		`{"outcome":"failed","result":1,"reason":"x"}`:                       "result",
		`{"outcome":"succeeded","result":1,"reason":"x","then":"continue"}`:  "then",
		`{"outcome":"failed","reason":"x","then":"continue","provider":"l"}`: "provider",
	} {
		p := b.decide(operatorKey, job, "/attempts/1/resolve", body).problem(http.StatusBadRequest, "request-invalid")
		require.Equal(t, field, p.Field, body)
	}
}

func TestThenContinueNeedsTheRoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.submit("k1", `{"route":"scan","input":1}`).is(http.StatusAccepted).job()
	p := b.decide(devKey, job, "/attempts/1/cancel", `{"reason":"x","then":"continue"}`).problem(http.StatusUnprocessableEntity, "route-unknown")
	require.Contains(t, p.Detail, "scan")
}

func TestIfMatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknown("k1")
	reopened := b.decide(devKey, job, "/attempts/1/cancel", `{"reason":"x"}`, "If-Match", `"v1.1"`).is(http.StatusOK)
	require.Equal(t, int64(2), reopened.job().Version)

	job = b.decide(devKey, job, "/attempts", "", "If-Match", `"v2"`).is(http.StatusCreated).job()
	require.Equal(t, int64(3), job.Version)
	for _, call := range []string{"/attempts", "/attempts/2/cancel", "/attempts/2/resolve", "/cancel"} {
		body := map[string]string{
			"/attempts/2/cancel": `{"reason":"x"}`, "/attempts/2/resolve": `{"outcome":"cancelled","reason":"x"}`,
		}[call]
		answer := b.decide(operatorKey, job, call, body, "If-Match", `"v1.9"`)
		p := answer.problem(http.StatusPreconditionFailed, "version-mismatch")
		require.Equal(t, int64(3), p.Version, call)
		require.Equal(t, job.ID, p.Job)
		for _, bad := range []string{`v2.1`, `"2"`, `"v0.1"`, `W/"v2.1"`, `"v2.1", "v3.1"`, `""`, `"v99999999999999999999.1"`} {
			p := b.decide(operatorKey, job, call, body, "If-Match", bad).problem(http.StatusBadRequest, "request-invalid")
			require.Equal(t, "If-Match", p.Field, bad)
		}
	}
	b.decide(devKey, job, "/cancel", "", "If-Match", "*").is(http.StatusOK)
}

func TestDecisionsAboutAJobThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gone := b.made("k1")
	b.redis.FlushAll()
	for call, body := range map[string]string{
		"/cancel": "", "/attempts": "", "/attempts/1/cancel": `{"reason":"x"}`, "/attempts/1/resolve": `{"outcome":"failed","reason":"x"}`,
	} {
		b.decide(operatorKey, gone, call, body).problem(http.StatusNotFound, "not-found")
	}
	require.Empty(t, b.redis.Keys(), "a verb on a job that is not there writes nothing")
}
