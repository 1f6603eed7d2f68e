package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

func TestStore_ScriptsFlushed(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := newWorldAt(t, setting{}, s.addr(), 0)
	w.startAPI()
	w.startWorker()
	ids := make([]string, 0, 10)
	for i := range 10 {
		require.NoError(t, w.rdb.ScriptFlush(w.ctx).Err())
		ids = append(ids, w.submit("key-"+string(rune('a'+i)), `{"press":"later:100ms"}`))
	}
	for _, id := range ids {
		require.NoError(t, w.rdb.ScriptFlush(w.ctx).Err())
		w.awaitState(id, jobs.Succeeded)
	}
	w.settled()
}

// TestStore_KilledDuringCalls: Redis is away for longer than a lease while calls
// run. Their workers live, so nobody is suspected, and what they heard meanwhile
// is recorded when the store is back.
func TestStore_KilledDuringCalls(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := newWorldAt(t, setting{times: "timeout: 20s, deadline: 40s"}, s.addr(), 0)
	w.startAPI()
	w.startWorker()
	w.startWorker()
	// Some end while the store is away, some after it is back.
	var ids []string
	for i, do := range []string{"later:2s", "later:4s", "later:12s", "later:12s"} {
		ids = append(ids, w.submit("key-"+string(rune('a'+i)), `{"press":"`+do+`"}`))
	}
	for _, id := range ids {
		w.awaitState(id, jobs.Running)
	}
	s.kill()
	status, _, err := w.post("while-away", `{"press":"ok"}`)
	require.NoError(t, err)
	require.Equal(t, 503, status, "a store that is away is said so, never guessed at")
	w.pass(5 * time.Second)
	s.start()
	for _, id := range ids {
		w.awaitState(id, jobs.Succeeded)
		require.NotContains(t, w.verbs(id), "suspect", "a live call is not suspected")
	}
	w.submit("while-away", `{"press":"ok"}`)
	w.settled()
}

// TestStore_RestartIsNoRewind: a clean restart and one after kill -9 lose
// nothing, so nothing is rewound.
func TestStore_RestartIsNoRewind(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := newWorldAt(t, setting{}, s.addr(), 0)
	w.startAPI()
	worker := w.startWorker()
	w.submitMany(5, `{"press":"ok"}`)
	for _, id := range w.jobs {
		w.awaitState(id, jobs.Succeeded)
	}
	s.kill()
	s.start()
	w.submit("after-kill", `{"press":"ok"}`)
	s.terminate(20 * time.Second)
	s.start()
	w.submit("after-restart", `{"press":"ok"}`)
	w.settled()
	require.NotContains(t, worker.said(), "store_rewound")
}
