package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// reconciling starts a world whose provider can be asked.
func reconciling(t *testing.T, s setting) *world {
	t.Helper()
	needs(t)
	w := newWorld(t, s)
	w.startAPI()
	w.startWorker()
	return w
}

// unknownJob is a job whose only attempt the provider has and says nothing about.
func (w *world) unknownJob(do string) string {
	w.t.Helper()
	id := w.submit("key", do)
	w.awaitState(id, jobs.Unknown)
	return id
}

// looks waits for some more look-ups, hurrying them.
func (w *world) looks(more int) {
	w.t.Helper()
	before := len(w.entries("lookup"))
	within(w.t, 60*time.Second, "looked up again", func() bool {
		w.hasten(jobs.DueLookup)
		return len(w.entries("lookup")) >= before+more
	})
}

// The call is cut after the effect: the look-up finds the result, and it wins
// under the attempt's own fence.
func TestReconcile_Found(t *testing.T) {
	w := reconciling(t, setting{press: withLookup})
	id := w.submit("key", `{"press":"cut"}`)
	job := w.awaitState(id, jobs.Succeeded)
	require.Contains(t, w.verbs(id), "suspect")
	require.Equal(t, int64(1), job.Attempts[0].Fence)
	require.Equal(t, 1, job.CompletedBy)
	require.JSONEq(t, `{"printed":"`+attemptID(id, 1)+`"}`, string(job.Result))
	w.settled()
}

func TestReconcile_Refused(t *testing.T) {
	w := reconciling(t, setting{press: withLookup})
	id := w.unknownJob(`{"press":"hang"}`)
	w.lookupsSay(attemptID(id, 1), "failed")
	job := w.awaitState(id, jobs.Failed)
	require.Equal(t, "failed_at_provider", job.Attempts[0].Reason)
	w.settled()
}

// Neither absence, nor an outage of the look-up, nor "running" proves anything.
func TestReconcile_NothingProven(t *testing.T) {
	w := reconciling(t, setting{press: withLookup})
	id := w.unknownJob(`{"press":"hang"}`)
	w.pass(6 * time.Second) // past the deadline
	for _, says := range []string{"absent", "outage", "running"} {
		w.lookupOutage(says == "outage")
		w.lookupsSay(attemptID(id, 1), says)
		w.looks(2)
		job := w.job(id)
		require.Equal(t, jobs.Unknown, job.State, says)
		require.Equal(t, "timeout", job.Attempts[0].Reason)
		require.NotNil(t, job.Attempts[0].Lookup)
	}
	w.lookupsSay(attemptID(id, 1), "succeeded")
	w.hasten(jobs.DueLookup)
	w.awaitState(id, jobs.Succeeded)
	w.settled()
}

// Where the provider is declared to know all that reached it, absence counts, but
// only after the deadline.
func TestReconcile_AbsentProves(t *testing.T) {
	w := reconciling(t, setting{press: withLookup + ", absent_proves: true", route: "tries: 2"})
	id := w.unknownJob(`{"press":["hang","ok"]}`)
	sent := time.Now()
	w.lookupsSay(attemptID(id, 1), "absent")
	w.hasten(jobs.DueLookup)
	w.pass(2 * time.Second)
	require.Equal(t, jobs.Unknown, w.job(id).State, "before the deadline it may still arrive")
	w.await(id, "attempt 1 failed", 60*time.Second, func(j *jobs.Job) bool {
		w.hasten(jobs.DueLookup)
		return j.Attempts[0].State == jobs.AttemptFailed
	})
	require.Greater(t, time.Since(sent), 4*time.Second)
	job := w.awaitState(id, jobs.Succeeded)
	require.Equal(t, "never_arrived", job.Attempts[0].Reason)
	require.Equal(t, 2, job.CompletedBy)
	w.settled()
}

func TestReconcile_SettlesAfter(t *testing.T) {
	w := reconciling(t, setting{press: ", settles_after: 9s", route: "tries: 2"})
	id := w.unknownJob(`{"press":["hang","ok"]}`)
	began := time.Now()
	job := w.awaitState(id, jobs.Succeeded)
	require.Greater(t, time.Since(began), 7*time.Second)
	require.Equal(t, "settled", job.Attempts[0].Reason)
	require.Equal(t, 2, job.CompletedBy)
	w.settled()
}

// A worker dies after the provider took the call on: the handle is on record, and
// asking for it settles the attempt.
func TestReconcile_ByHandle(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{times: "timeout: 10s, deadline: 30s", press: `, lookup_url: "PROVIDER/status/{handle}"`})
	w.startAPI()
	killed := w.startWorker()
	id := w.submit("key", `{"press":"accept:6s"}`)
	w.await(id, "the handle is kept", 30*time.Second, func(j *jobs.Job) bool { return j.Attempts[0].Handle != "" })
	killed.kill()
	w.startWorker()
	unknown := w.awaitState(id, jobs.Unknown)
	require.Equal(t, "worker_lost", unknown.Attempts[0].Reason)
	w.awaitState(id, jobs.Succeeded)
	w.settled()
}

// With its worker alive, an accepted call is followed to its end.
func TestReconcile_AcceptedIsFollowed(t *testing.T) {
	w := reconciling(t, setting{times: "timeout: 3s, deadline: 20s", press: withLookup})
	id := w.submit("key", `{"press":"accept:5s"}`)
	job := w.awaitState(id, jobs.Succeeded)
	require.NotEmpty(t, job.Attempts[0].Handle)
	require.NotContains(t, w.verbs(id), "suspect", "a provider that says running is not silent")
	w.settled()
}
