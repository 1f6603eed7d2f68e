package recovery_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// aof is where the server keeps what it acknowledged.
func (s *server) aof() string { return filepath.Join(s.dir, "appendonlydir") }

// remember keeps a copy of what the server has on disk now.
func (s *server) remember() string {
	s.t.Helper()
	copied := filepath.Join(s.t.TempDir(), "older")
	require.NoError(s.t, os.CopyFS(copied, os.DirFS(s.aof())))
	return copied
}

// goBack is a restore from an older copy: the server comes back without what it
// acknowledged since.
func (s *server) goBack(older string) {
	s.t.Helper()
	s.kill()
	require.NoError(s.t, os.RemoveAll(s.aof()))
	require.NoError(s.t, os.CopyFS(s.aof(), os.DirFS(older)))
	s.start()
}

// TestRewind: the store is restored from an older copy while onejob runs. Calls
// that were made in the future that is lost are not made again: their attempts
// are unknown, and go on from there by look-up and by decision.
func TestRewind_RestoredFromAnOlderCopy(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := newWorldAt(t, setting{press: withLookup, times: "timeout: 6s, deadline: 20s"}, s.addr(), 0)
	processes := []*process{w.startAPI(), w.startWorker()}
	metrics := []string{w.api}

	// At the copy one attempt is running, two wait.
	running := w.submit("running", `{"press":"hang"}`)
	w.awaitState(running, jobs.Running)
	require.NoError(t, w.inspector.PauseQueue(queue))
	found, decided := w.submit("found", `{"press":"ok"}`), w.submit("decided", `{"press":["ok","ok"]}`)
	older := s.remember()

	// Then all go on, in a future that will be lost.
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitState(found, jobs.Succeeded)
	w.awaitState(decided, jobs.Succeeded)
	w.awaitState(running, jobs.Unknown)
	w.lookupsSay(attemptID(decided, 1), "absent")
	s.goBack(older)
	require.NoError(t, w.inspector.UnpauseQueue(queue)) // it is paused again, as at the copy

	for _, id := range []string{running, decided} {
		job := w.await(id, "unknown, for the store went back", 60*time.Second, func(j *jobs.Job) bool { return j.State == jobs.Unknown })
		require.Equal(t, "store_rewound", job.Attempts[0].Reason)
	}
	require.Equal(t, 1, w.awaitState(found, jobs.Succeeded).CompletedBy, "settled by look-up")
	w.lookupsSay(attemptID(running, 1), "failed")
	w.hasten(jobs.DueLookup)
	w.awaitState(running, jobs.Failed)

	// A person decides; the next attempt has a number that nobody has used.
	w.ask(decided, "/attempts/1/resolve", `{"outcome":"failed","reason":"not in the vendor's list"}`)
	w.ask(decided, "/attempts", `{"reason":"once more"}`)
	job := w.awaitState(decided, jobs.Succeeded)
	require.Equal(t, 101, job.CompletedBy)

	w.toldOfRewind(processes, metrics)
	after := w.submit("after", `{"press":"ok"}`)
	w.awaitState(after, jobs.Succeeded)
	w.settled()
}

// toldOfRewind: the log, /readyz and a metric of whoever noticed say so.
func (w *world) toldOfRewind(processes []*process, addrs []string) {
	w.t.Helper()
	said := false
	for _, p := range processes {
		said = said || has([]byte(p.said()), "went back in time", "store_rewound")
	}
	require.True(w.t, said, "nobody logged it")
	addrs = append(addrs, w.workerAddr)
	var notes, counted bool
	for _, addr := range addrs {
		status, raw, err := w.get("http://" + addr + "/readyz")
		require.NoError(w.t, err)
		require.Equal(w.t, 200, status, "%s", raw)
		notes = notes || has(raw, "store_rewound")
		_, raw, err = w.get("http://" + addr + "/metrics")
		require.NoError(w.t, err)
		counted = counted || has(raw, "onejob_store_rewound_total") && !has(raw, "onejob_store_rewound_total 0\n")
	}
	require.True(w.t, notes, "/readyz does not say so")
	require.True(w.t, counted, "no metric says so")
}
