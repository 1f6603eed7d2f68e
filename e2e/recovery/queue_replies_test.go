package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// Commands of asynq, told from the keys they name.
func enqueues(request, _ []byte) bool {
	return has(request, "evalsha", "asynq:{press}:t:", "asynq:{press}:pending", "attempt:wake")
}

func dequeues(request, reply []byte) bool {
	return has(request, "asynq:{press}:paused") && has(reply, "attempt:wake")
}

func acks(request, _ []byte) bool { return has(request, "asynq:{press}:processed:") }

// TestQueue_RepliesLost loses what Redis answered to asynq: the task was queued,
// handed out or acknowledged, and nobody knows.
func TestQueue_RepliesLost(t *testing.T) {
	needs(t)
	for name, lose := range map[string]func(request, reply []byte) bool{
		"enqueue": enqueues, "dequeue": dequeues, "ack": acks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, db := database(t)
			p := newProxy(t, addr, 3, lose)
			w := newWorldAt(t, setting{viaURL: p.addr()}, addr, db)
			w.startAPI()
			w.startWorker()
			w.submitMany(6, `{"press":"later:200ms"}`)
			within(t, 30*time.Second, "replies were lost", func() bool { return p.lost.Load() > 0 })
			for _, id := range w.jobs {
				w.await(id, "result", settleTime, func(j *jobs.Job) bool { return j.State == jobs.Succeeded })
			}
			w.settled()
			require.Len(t, w.creates(), 6)
		})
	}
}

// TestQueue_DeliveredAgain: what was done already is handed out again, as after an
// ack that never got through, or by "run" on a completed task: nothing is called.
func TestQueue_DeliveredAgain(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{})
	w.startAPI()
	w.startWorker()
	id := w.submit("key", `{"press":"ok"}`)
	w.awaitState(id, jobs.Succeeded)
	for range 3 {
		w.wakeAgain(id, 1)
	}
	w.awaitQueueEmpty()
	w.settled()
	require.Equal(t, map[string]int{attemptID(id, 1): 1}, w.creates())
}
