package recovery_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/tasks"
)

// ticket waits for the ticket of a failed job.
func (w *world) ticket(job *jobs.Job) *asynq.TaskInfo {
	w.t.Helper()
	var found *asynq.TaskInfo
	within(w.t, 60*time.Second, "there is a ticket", func() bool {
		info, err := w.inspector.GetTaskInfo(tasks.QueueOperator, fmt.Sprintf("%s-retry-v%d", job.ID, job.Version))
		found = info
		return err == nil
	})
	return found
}

// copies puts the same ticket on the queue again under other ids.
func (w *world) copies(ticket *asynq.TaskInfo, n int) {
	w.t.Helper()
	client := asynq.NewClientFromRedisClient(w.rdb)
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			_, errs[i] = client.EnqueueContext(w.ctx, asynq.NewTask(ticket.Type, ticket.Payload, asynq.Queue(tasks.QueueOperator)))
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(w.t, err)
	}
}

func (w *world) awaitTicketsDone() {
	w.t.Helper()
	within(w.t, 60*time.Second, "tickets are done", func() bool {
		info, err := w.inspector.GetQueueInfo(tasks.QueueOperator)
		return err == nil && info.Pending+info.Active+info.Retry == 0
	})
}

func TestTicket_RunNow(t *testing.T) {
	w := operated(t)
	id := w.submit("key", `{"press":["refuse","ok"]}`)
	failed := w.awaitState(id, jobs.Failed)
	ticket := w.ticket(failed)
	require.Equal(t, asynq.TaskStateScheduled, ticket.State)
	require.Contains(t, string(ticket.Payload), "print")
	require.NoError(t, w.inspector.RunTask(tasks.QueueOperator, ticket.ID))
	done := w.awaitState(id, jobs.Succeeded)
	require.Len(t, done.Attempts, 2)
	w.settled()
}

// Run twice, many times at once, run-all: one new attempt.
func TestTicket_RunManyTimesAtOnce(t *testing.T) {
	w := operated(t)
	id := w.submit("key", `{"press":["refuse","later:1s"]}`)
	ticket := w.ticket(w.awaitState(id, jobs.Failed))
	_, err := w.inspector.RunAllScheduledTasks(tasks.QueueOperator)
	require.NoError(t, err)
	w.copies(ticket, 20)
	w.awaitState(id, jobs.Succeeded)
	w.copies(ticket, 3) // and after the job has moved on
	w.awaitTicketsDone()
	require.Len(t, w.job(id).Attempts, 2)
	w.settled()
}

// A ticket is good for the failure it was made for.
func TestTicket_AfterTheJobMovedOn(t *testing.T) {
	w := operated(t)
	id := w.submit("key", `{"press":"refuse"}`)
	first := w.ticket(w.awaitState(id, jobs.Failed))
	w.ask(id, "/attempts", `{"reason":"once more"}`)
	again := w.await(id, "failed again", 60*time.Second, func(j *jobs.Job) bool { return j.State == jobs.Failed && len(j.Attempts) == 2 })
	second := w.ticket(again)
	require.NotEqual(t, first.ID, second.ID)
	require.NoError(t, w.inspector.RunTask(tasks.QueueOperator, first.ID))
	w.copies(first, 3)
	w.awaitTicketsDone()
	require.Len(t, w.job(id).Attempts, 2, "the old ticket does nothing")
	require.NoError(t, w.inspector.ArchiveTask(tasks.QueueOperator, second.ID))
	require.NoError(t, w.inspector.RunTask(tasks.QueueOperator, second.ID))
	w.await(id, "a third attempt", 60*time.Second, func(j *jobs.Job) bool { return j.State == jobs.Failed && len(j.Attempts) == 3 })
	w.settled()
}
