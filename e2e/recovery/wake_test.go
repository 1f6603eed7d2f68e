package recovery_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/tasks"
)

const queue = "press"

// wakeAgain puts the wake-up of an attempt on the queue once more.
func (w *world) wakeAgain(id string, n int) {
	w.t.Helper()
	payload, err := json.Marshal(tasks.Wake{JobID: id, Attempt: n})
	require.NoError(w.t, err)
	_, err = asynq.NewClientFromRedisClient(w.rdb).EnqueueContext(w.ctx,
		asynq.NewTask(tasks.TypeWake, payload, asynq.Queue(queue)))
	require.NoError(w.t, err)
}

// task is an attempt's wake-up as asynq sees it; nil when there is none.
func (w *world) task(id string) *asynq.TaskInfo {
	w.t.Helper()
	info, err := w.inspector.GetTaskInfo(queue, id)
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return nil
	}
	require.NoError(w.t, err)
	return info
}

func (w *world) awaitQueueEmpty() {
	w.t.Helper()
	within(w.t, 60*time.Second, "queue is empty", func() bool {
		info, err := w.inspector.GetQueueInfo(queue)
		return errors.Is(err, asynq.ErrQueueNotFound) || err == nil && info.Pending+info.Active+info.Retry+info.Scheduled == 0
	})
}

// pausedJob submits a job to a paused queue: its wake-up waits to be tampered with.
func (w *world) pausedJob(more ...string) string {
	w.t.Helper()
	w.awaitWorkers()
	require.NoError(w.t, w.inspector.PauseQueue(queue))
	id := w.submit("key", `{"press":"ok"}`, more...)
	within(w.t, 30*time.Second, "the wake-up waits", func() bool { return w.task(attemptID(id, 1)) != nil })
	return id
}

// awaitWorkers makes sure that the queue is known, so that it can be paused.
func (w *world) awaitWorkers() {
	w.t.Helper()
	id := w.submit("first", `{"press":"ok"}`)
	w.awaitState(id, jobs.Succeeded)
}

func operated(t *testing.T) *world {
	t.Helper()
	needs(t)
	w := newWorld(t, setting{times: "timeout: 5s, deadline: 8s"})
	w.startAPI()
	w.startWorker()
	return w
}

func TestWake_DeletedIsMadeAgain(t *testing.T) {
	w := operated(t)
	id := w.pausedJob()
	require.NoError(t, w.inspector.DeleteTask(queue, attemptID(id, 1)))
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitState(id, jobs.Succeeded) // by the sweeper, five seconds after the submit
	w.settled()
}

func TestWake_ArchivedIsAHold(t *testing.T) {
	w := operated(t)
	id := w.pausedJob()
	require.NoError(t, w.inspector.ArchiveTask(queue, attemptID(id, 1)))
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	held := w.await(id, "the hold is shown", 30*time.Second, func(j *jobs.Job) bool { return j.Hold != "" })
	require.Equal(t, jobs.Queued, held.State)
	w.hasten(jobs.DueWake)
	w.pass(3 * time.Second)
	require.Equal(t, jobs.Queued, w.job(id).State, "a hold is a hold")
	w.fsckClean()

	require.NoError(t, w.inspector.RunTask(queue, attemptID(id, 1)))
	done := w.awaitState(id, jobs.Succeeded)
	require.Empty(t, done.Hold)
	w.settled()
}

func TestWake_ArchivedThenDeletedIsMadeAgain(t *testing.T) {
	w := operated(t)
	id := w.pausedJob()
	require.NoError(t, w.inspector.ArchiveTask(queue, attemptID(id, 1)))
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.await(id, "the hold is shown", 30*time.Second, func(j *jobs.Job) bool { return j.Hold != "" })
	require.NoError(t, w.inspector.DeleteTask(queue, attemptID(id, 1)))
	w.hasten(jobs.DueWake)
	require.Empty(t, w.awaitState(id, jobs.Succeeded).Hold)
	w.settled()
}

func TestWake_CancelledAndRunAtOnce(t *testing.T) {
	w := operated(t)
	id := w.submit("key", `{"press":"later:3s"}`)
	w.awaitState(id, jobs.Running)
	require.NoError(t, w.inspector.CancelProcessing(attemptID(id, 1)))
	within(t, 30*time.Second, "asynq has let go of it", func() bool {
		info := w.task(attemptID(id, 1))
		return info == nil || info.State != asynq.TaskStateActive
	})
	if w.task(attemptID(id, 1)) != nil {
		require.NoError(t, w.inspector.RunTask(queue, attemptID(id, 1)))
	}
	w.startWorker() // two workers hold one id
	w.wakeAgain(id, 1)
	w.awaitState(id, jobs.Succeeded)
	w.settled()
	require.Equal(t, 1, w.creates()[attemptID(id, 1)])
	require.NotContains(t, w.verbs(id), "suspect")
}

func TestWake_LeaseEntryDeleted(t *testing.T) {
	w := operated(t)
	id := w.submit("key", `{"press":"later:3s"}`)
	w.awaitState(id, jobs.Running)
	require.NoError(t, w.rdb.Del(w.ctx, "asynq:{press}:lease").Err())
	w.awaitState(id, jobs.Succeeded)
	w.settled()
}
