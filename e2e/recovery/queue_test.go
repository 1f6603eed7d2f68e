package recovery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/faults"
	"onejob/jobs"
)

// TestQueue_OrphanWithoutLease: the worker died with the wake-up in its hands,
// and the entry by which asynq would find it is gone as well.
func TestQueue_OrphanWithoutLease(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{})
	w.startAPI()
	id := w.submit("key", `{"press":"ok"}`)
	w.startWorker(faulty(faults.Delivered, "kill")).awaitEnd(30 * time.Second)
	require.NoError(t, w.rdb.Del(w.ctx, "asynq:{press}:lease").Err())
	w.startWorker()
	within(t, 30*time.Second, "a first look", func() bool { w.hasten(jobs.DueWake); return w.job(id).State == jobs.Succeeded })
	w.settled()
}

func TestQueue_PausedPastStartWithin(t *testing.T) {
	w := operated(t)
	id := w.pausedJob(`,"start_within":"2s"`)
	expired := w.awaitState(id, jobs.Failed)
	require.Equal(t, "start_expired", expired.Error.Code)
	require.Equal(t, jobs.AttemptCancelled, expired.Attempts[0].State)
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitQueueEmpty()
	w.settled()
	require.Zero(t, w.creates()[attemptID(id, 1)], "yesterday's click was not started")
}

// TestQueue_PausedPastDeadline: the deadline is that of a call, which begins with
// the claim; a job that was to wait waits.
func TestQueue_PausedPastDeadline(t *testing.T) {
	w := operated(t)
	id := w.pausedJob()
	w.pass(9 * time.Second)
	w.hasten(jobs.DueWake)
	w.pass(2 * time.Second)
	require.Equal(t, jobs.Queued, w.job(id).State)
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitState(id, jobs.Succeeded)
	w.settled()
}

// TestQueue_DeletedComesBack: an operator deletes the queue with all that waits
// in it. Its jobs are woken again, and he sees the queue again.
func TestQueue_DeletedComesBack(t *testing.T) {
	w := operated(t)
	id := w.pausedJob()
	// The worker's sweeper, too, has announced the queue once, which asynq does not
	// do a second time.
	require.NoError(t, w.inspector.DeleteTask(queue, attemptID(id, 1)))
	w.hasten(jobs.DueWake)
	within(t, 30*time.Second, "woken by the sweeper", func() bool { return w.task(attemptID(id, 1)) != nil })
	require.NoError(t, w.inspector.DeleteQueue(queue, true))
	require.NoError(t, w.rdb.Set(w.ctx, "asynq:{press}:paused", "1", 0).Err()) // deleting takes the pause off as well
	w.hasten(jobs.DueWake)
	within(t, 30*time.Second, "woken again, out of sight", func() bool {
		return w.rdb.LLen(w.ctx, "asynq:{press}:pending").Val() > 0
	})
	w.hasten(jobs.DueWake)
	within(t, 30*time.Second, "the queue is seen again", func() bool {
		names, err := w.inspector.Queues()
		return err == nil && strings.Contains(strings.Join(names, " "), queue)
	})
	info, err := w.inspector.GetQueueInfo(queue)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Pending, 1, "one wake-up is enough")
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitState(id, jobs.Succeeded)
	w.settled()
}

// TestQueue_EveryActionInEveryState plays the operator's table over wake-ups that
// wait, run and are done: creates stay at one an attempt and the job alive.
func TestQueue_EveryActionInEveryState(t *testing.T) {
	w := operated(t)
	act := map[string]func(id string) error{
		"run":     func(id string) error { return w.inspector.RunTask(queue, id) },
		"archive": func(id string) error { return w.inspector.ArchiveTask(queue, id) },
		"delete":  func(id string) error { return w.inspector.DeleteTask(queue, id) },
		"cancel":  func(id string) error { return w.inspector.CancelProcessing(id) },
		"pause":   func(string) error { return w.inspector.PauseQueue(queue) },
	}
	w.awaitWorkers()
	for name, do := range act {
		for _, state := range []string{"pending", "active", "done"} {
			if state == "pending" {
				require.NoError(t, w.inspector.PauseQueue(queue))
			}
			id := w.submit(name+"-"+state, `{"press":"later:1s"}`)
			switch state {
			case "active":
				w.awaitState(id, jobs.Running)
			case "done":
				w.awaitState(id, jobs.Succeeded)
			}
			_ = do(attemptID(id, 1)) // what asynq refuses changes nothing
			_ = do(attemptID(id, 1))
			_ = w.inspector.UnpauseQueue(queue)
			_ = w.inspector.RunTask(queue, attemptID(id, 1))
		}
	}
	within(t, 60*time.Second, "every job has its result", func() bool {
		w.hasten(jobs.DueWake)
		for _, id := range w.jobs {
			if w.job(id).State != jobs.Succeeded {
				return false
			}
		}
		return true
	})
	w.settled()
	require.Len(t, w.creates(), len(w.jobs))
}
