package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/jobs"
)

// refused asks for another attempt and wants 409 attempt-unresolved: which
// attempt, why, and what can be done (I4).
func refused(t *testing.T, c *caller, job jobs.Job, state string) answer {
	t.Helper()
	a := c.must(http.MethodPost, "/v1/jobs/"+job.ID+"/attempts", `{"reason":"it takes so long"}`)
	require.Equal(t, http.StatusConflict, a.status, a.body)
	require.Equal(t, "attempt-unresolved", a.name())
	require.Equal(t, "false", a.header.Get("X-Should-Retry"))
	require.Equal(t, job.ID, a.Job)
	require.NotNil(t, a.Attempt)
	require.Equal(t, 1, a.Attempt.Number)
	require.Equal(t, state, a.Attempt.State)
	require.Contains(t, a.Hint, "/attempts/1/cancel")
	require.NotZero(t, a.Attempt.Since)

	blocked := c.get(job.ID)
	require.Len(t, blocked.Attempts, 1)
	require.NotNil(t, blocked.BlockedBy)
	require.Equal(t, 1, blocked.BlockedBy.Attempt)
	require.Equal(t, state, blocked.BlockedBy.State)
	require.NotEmpty(t, blocked.BlockedBy.Actions)
	return a
}

// TestContract_NewAttemptOverAnUnsettledOne: an attempt that is starting, running
// or unknown holds back the next one, whoever asks.
func TestContract_NewAttemptOverAnUnsettledOne(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		t.Run("starting, its queue paused", func(t *testing.T) {
			f := newFloor(t, rdb, 10*time.Second)
			f.pause("inkjet")
			dev := f.caller(f.start(app.WithAPI(), app.WithWorker()).Addr())
			job := dev.submit("starting", page1).job
			refused(t, dev, job, "starting")
			refused(t, dev.as("dev-operator-key"), job, "starting")
			require.Equal(t, jobs.Queued, dev.get(job.ID).State)
			f.shop.none()
		})
		t.Run("running, then unknown", func(t *testing.T) {
			f := newFloor(t, rdb, 1500*time.Millisecond)
			f.yaml = strings.ReplaceAll(f.yaml, "inkjet", "plotter")
			dev := f.caller(f.start(app.WithAPI(), app.WithWorker()).Addr())
			job := dev.submit("running", page1).job
			order := f.shop.next()
			refused(t, dev, job, "running")

			dev.untilState(job.ID, jobs.Unknown)
			a := refused(t, dev, job, "unknown")
			require.Equal(t, "timeout", a.Attempt.Reason)
			require.NotZero(t, a.Attempt.ListeningUntil)
			require.Contains(t, a.Detail, "unknown")
			require.Contains(t, dev.get(job.ID).BlockedBy.Actions, "wait")
			refused(t, dev.as("dev-operator-key"), job, "unknown")
			f.shop.none()
			order.answer(http.StatusOK, `{}`)
			dev.untilState(job.ID, jobs.Succeeded)
		})
	})
}

// TestContract_TimeoutIsUnknownUntilTheLateAnswer: silence makes the job unknown,
// never failed; nothing is sent again; a late answer still entitled settles it.
func TestContract_TimeoutIsUnknownUntilTheLateAnswer(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		f := newFloor(t, rdb, 200*time.Millisecond)
		dev := f.caller(f.start(app.WithAPI(), app.WithWorker()).Addr())
		job := dev.submit("k", page1).job
		order := f.shop.next()
		unknown := dev.untilState(job.ID, jobs.Unknown)
		require.Equal(t, jobs.AttemptUnknown, unknown.Attempts[0].State)
		require.Equal(t, "timeout", unknown.Attempts[0].Reason)
		require.Equal(t, "unknown", unknown.Attempts[0].Effect)
		require.Zero(t, unknown.EndedAt)
		refused(t, dev, job, "unknown")
		f.shop.none()

		order.answer(http.StatusOK, `{"sheets":1}`)
		done := dev.untilState(job.ID, jobs.Succeeded)
		require.Equal(t, 1, done.CompletedBy)
		require.JSONEq(t, `{"sheets":1}`, string(done.Result))
		require.Nil(t, done.Attempts[0].LateResult)
		require.Equal(t, map[string]int{done.Attempts[0].ID: 1}, f.shop.created())
	})
}

// TestContract_ReverseFinish: A leaves first and is cancelled out of band, B wins,
// A answers late and leaves no mark but its digest, size, time and reason.
func TestContract_ReverseFinish(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		f := newFloor(t, rdb, 200*time.Millisecond)
		addr := f.start(app.WithAPI(), app.WithWorker()).Addr()
		dev := f.caller(addr)
		job := dev.submit("k", page1).job
		a := f.shop.next()
		dev.untilState(job.ID, jobs.Unknown)
		cancelled := dev.must(http.MethodPost, "/v1/jobs/"+job.ID+"/attempts/1/cancel", `{"reason":"the customer cannot wait"}`)
		require.Equal(t, http.StatusOK, cancelled.status, cancelled.body)
		opened := dev.must(http.MethodPost, "/v1/jobs/"+job.ID+"/attempts", `{"provider":"laser"}`)
		require.Equal(t, http.StatusCreated, opened.status, opened.body)
		b := f.shop.next()
		require.Equal(t, "laser", b.printer)
		b.answer(http.StatusOK, `{"by":"laser"}`)
		won := dev.untilState(job.ID, jobs.Succeeded)
		require.Equal(t, 2, won.CompletedBy)

		const late = `{"by":"inkjet, after all"}`
		a.answer(http.StatusOK, late)
		after := dev.until(job.ID, "told of the late result", func(j jobs.Job) bool { return j.Attempt(1).LateResult != nil })
		sum := sha256.Sum256([]byte(late))
		mark := after.Attempt(1).LateResult
		require.Equal(t, hex.EncodeToString(sum[:]), mark.SHA256)
		require.EqualValues(t, len(late), mark.Bytes)
		require.Equal(t, "slot_taken", mark.Reason)
		require.NotZero(t, mark.At)

		require.JSONEq(t, `{"by":"laser"}`, string(after.Result))
		require.Equal(t, 2, after.CompletedBy)
		require.Equal(t, won.Version, after.Version)
		require.Equal(t, won.EndedAt, after.EndedAt)
		require.Equal(t, jobs.AttemptCancelled, after.Attempt(1).State)
		require.Equal(t, won.Attempt(2), after.Attempt(2))
		require.Equal(t, map[string]int{after.Attempt(1).ID: 1, after.Attempt(2).ID: 1}, f.shop.created())
		for key, value := range keyspace(f.ctx, t, rdb) {
			require.NotContains(t, value, "after all", "the payload is kept in %s", key)
		}

		events := dev.must(http.MethodGet, "/v1/jobs/"+job.ID+"/events", "").body
		require.Contains(t, events, "late_result_discarded")
		require.Contains(t, events, mark.SHA256)
		require.Eventually(t, func() bool {
			return strings.Contains(f.log.String(), "late result discarded")
		}, patience, 5*time.Millisecond)
		require.NotContains(t, f.log.String(), "after all")
		require.Eventually(t, func() bool {
			a, err := dev.as("dev-operator-key").call(http.MethodGet, "/metrics", "")
			return err == nil && strings.Contains(a.body, `onejob_late_results_discarded_total{provider="inkjet",reason="slot_taken"} 1`)
		}, patience, 5*time.Millisecond)
	})
}
