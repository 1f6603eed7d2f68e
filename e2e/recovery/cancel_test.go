package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// cancelAsked waits until the provider was asked to stop an attempt.
func (w *world) cancelAsked(attempt string) {
	w.t.Helper()
	within(w.t, 30*time.Second, "the provider is asked to cancel "+attempt, func() bool {
		for _, e := range w.entries("cancel") {
			if e.Attempt == attempt {
				return true
			}
		}
		return false
	})
}

func TestCancel_ProviderIsAsked(t *testing.T) {
	needs(t)
	for path, body := range map[string]string{
		"/cancel":            `{"reason":"no longer wanted"}`,
		"/attempts/1/cancel": `{"reason":"no longer wanted"}`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{press: withCancel, times: "timeout: 8s, deadline: 20s"})
			w.startAPI()
			w.startWorker()
			id := w.submit("key", `{"press":"later:3s"}`)
			w.awaitState(id, jobs.Running)
			within(t, 30*time.Second, "the call has left", func() bool { return len(w.entries("create")) == 1 })
			w.ask(id, path, body)
			w.cancelAsked(attemptID(id, 1))
			job := w.await(id, "what came late is recorded", 30*time.Second, func(j *jobs.Job) bool { return j.Attempts[0].LateResult != nil })
			require.Equal(t, jobs.AttemptCancelled, job.Attempts[0].State)
			require.Empty(t, job.Result)
			require.Contains(t, w.verbs(id), "cancel_asked")
			w.settled()
		})
	}
}

// One that was never sent needs no asking.
func TestCancel_OfWhatNeverLeft(t *testing.T) {
	w := reconciling(t, setting{press: withCancel})
	id := w.pausedJob()
	w.ask(id, "/cancel", `{"reason":"no longer wanted"}`)
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitQueueEmpty()
	w.settled()
	require.Zero(t, w.creates()[attemptID(id, 1)])
	require.Empty(t, w.entries("cancel"))
}

// racing is a route without effects: the next provider is asked when the first is
// silent.
var racing = setting{
	press: withCancel, press2: withCancel, providers: "press, press2", times: "timeout: 1s, deadline: 15s",
	route: "effects: none, race: {after: 500ms}, failover: untested, max_attempts: 2",
}

func TestRace_FirstFinisherWins(t *testing.T) {
	needs(t)
	for name, do := range map[string]struct {
		do     string
		winner int
	}{
		"the second": {`{"press":"later:8s","press2":"ok"}`, 2},
		"the first":  {`{"press":"later:4s","press2":"later:9s"}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, racing)
			w.startAPI()
			w.startWorker()
			id := w.submit("key", do.do)
			job := w.awaitState(id, jobs.Succeeded)
			require.Equal(t, do.winner, job.CompletedBy)
			loser := 3 - do.winner
			require.Equal(t, jobs.AttemptDiscarded, job.Attempt(loser).State)
			w.cancelAsked(attemptID(id, loser))
			w.await(id, "the loser's result is recorded", 30*time.Second, func(j *jobs.Job) bool { return j.Attempt(loser).LateResult != nil })
			require.Equal(t, job.Result, w.job(id).Result, "and not applied")
			w.settled()
		})
	}
}

// A decision about the silent one leaves the other its entitlement.
func TestRace_SilentOneDecided(t *testing.T) {
	needs(t)
	for path, body := range map[string]string{
		"/attempts/1/cancel":  `{"reason":"give up on it"}`,
		"/attempts/1/resolve": `{"outcome":"failed","reason":"the vendor says so"}`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, racing)
			w.startAPI()
			w.startWorker()
			id := w.submit("key", `{"press":"hang","press2":"later:6s"}`)
			w.await(id, "the second is asked", 30*time.Second, func(j *jobs.Job) bool {
				return len(j.Attempts) == 2 && j.Attempts[1].State != jobs.AttemptStarting
			})
			w.ask(id, path, body)
			job := w.awaitState(id, jobs.Succeeded)
			require.Equal(t, 2, job.CompletedBy)
			w.settled()
		})
	}
}
