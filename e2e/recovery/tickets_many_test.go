package recovery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/handlers"
	"onejob/jobs"
	"onejob/recovery"
	"onejob/tasks"
)

// manyFailed is more than asynq keeps in its archive, and than any page shows.
const manyFailed = 10_050

// deaf wakes nobody: the attempts that are opened stay where they are.
type deaf struct{}

func (deaf) Wake(context.Context, jobs.Wake) {}

var quiet = slog.New(slog.DiscardHandler)

// each calls do for 0 to n-1, a few at a time, and wants no error.
func each(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	const atOnce = 16
	errs := make([]error, atOnce)
	var all sync.WaitGroup
	for k := range atOnce {
		all.Go(func() {
			for i := k; i < n && errs[k] == nil; i += atOnce {
				errs[k] = do(i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// failJob submits a job and has its attempt fail for good.
func failJob(ctx context.Context, store *jobs.Store, key string) (string, error) {
	s, err := store.Submit(ctx, jobs.Submission{
		Owner: "dev", Key: key, Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`),
	})
	if err != nil {
		return "", err
	}
	c, err := store.Claim(ctx, jobs.ClaimRequest{JobID: s.Job.ID, Attempt: 1, Token: jobs.NewOp(), Provider: "press", Deadline: time.Minute})
	if err != nil {
		return "", err
	}
	_, err = store.Fail(ctx, jobs.Ending{JobID: c.JobID, Attempt: 1, Fence: c.Fence}, jobs.Failure{Reason: "refused", Policy: &jobs.Policy{}})
	return s.Job.ID, err
}

func newSweeper(rdb *redis.Client, store *jobs.Store) *recovery.Sweeper {
	return recovery.NewSweeper(recovery.Options{
		Store: store, Log: quiet,
		Queue:      tasks.NewQueue(rdb, func(string) time.Duration { return time.Minute }),
		Remind:     func(string, string) jobs.Reminders { return jobs.Reminders{} },
		Reconciler: &recovery.Reconciler{Store: store, Waker: deaf{}, Log: quiet, Policy: jobs.PolicyByRoute(func(string) *jobs.Policy { return nil })},
	})
}

// TestTicket_TenThousandRunAtOnce: every failed job has its ticket, and run-all,
// twice, gives each exactly one more attempt.
func TestTicket_TenThousandRunAtOnce(t *testing.T) {
	needs(t)
	addr, db := database(t)
	w := newWorldAt(t, setting{}, addr, db)
	ids := make([]string, manyFailed)
	each(t, manyFailed, func(i int) (err error) {
		ids[i], err = failJob(w.ctx, w.store, fmt.Sprint("key-", i))
		return err
	})
	sweeper := newSweeper(w.rdb, w.store)
	within(t, limit, "every failed job has its ticket", func() bool {
		require.NoError(t, sweeper.Sweep(w.ctx))
		info, err := w.inspector.GetQueueInfo(tasks.QueueOperator)
		return err == nil && info.Scheduled == manyFailed
	})
	require.NoError(t, sweeper.Sweep(w.ctx))

	operator := asynq.NewServerFromRedisClient(w.rdb, asynq.Config{
		Concurrency: 16, Queues: map[string]int{tasks.QueueOperator: 1}, TaskCheckInterval: 5 * time.Millisecond, LogLevel: asynq.FatalLevel,
	})
	tickets := handlers.Tickets{Store: w.store, Waker: deaf{}, Log: quiet}
	require.NoError(t, operator.Start(asynq.HandlerFunc(tickets.Handle)))
	defer operator.Shutdown()
	for range 2 {
		_, err := w.inspector.RunAllScheduledTasks(tasks.QueueOperator)
		require.NoError(t, err)
	}
	within(t, limit, "all tickets are done", func() bool {
		info, err := w.inspector.GetQueueInfo(tasks.QueueOperator)
		return err == nil && info.Size == 0
	})
	each(t, manyFailed, func(i int) error {
		job, err := w.store.Get(w.ctx, ids[i])
		if err == nil && (job.State != jobs.Queued || len(job.Attempts) != 2) {
			err = fmt.Errorf("job %s is %s with %d attempts", job.ID, job.State, len(job.Attempts))
		}
		return err
	})
	out, ok := w.fsck()
	require.True(t, ok, out)
	require.True(t, strings.HasPrefix(out, fmt.Sprint(manyFailed)), out)
}
