package recovery

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
	"onejob/tasks"
)

// What nobody ever enqueued is woken: the submitter died, or the queue was away.
func TestSweep_WakesWhatWasNeverClaimed(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		id := w.submit("k", 0)
		w.sweep()
		_, err := w.inspector.GetTaskInfo("inkjet", jobs.AttemptID(id, 1))
		require.Error(t, err, "woken before the submitter had his time")
		w.due("wake")
		w.sweep()
		_, err = w.inspector.GetTaskInfo("inkjet", jobs.AttemptID(id, 1))
		require.NoError(t, err)
		require.Equal(t, []string{"wake"}, w.left(), "the claim takes the entry off, nobody else")
	})
}

// A wake-up an operator archived is a hold, shown on the job until it is claimed;
// one he deletes is woken again.
func TestSweep_HoldsWhatAnOperatorArchived(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		id := w.submit("k", 0)
		task := jobs.AttemptID(id, 1)
		w.due("wake")
		w.sweep()
		require.NoError(t, w.inspector.ArchiveTask("inkjet", task))
		w.due("wake")
		w.sweep()
		require.Contains(t, w.get(id).Hold, "archived")
		require.Equal(t, jobs.Queued, w.get(id).State)

		require.NoError(t, w.inspector.DeleteTask("inkjet", task))
		w.due("wake")
		w.sweep()
		_, err := w.inspector.GetTaskInfo("inkjet", task)
		require.NoError(t, err, "a deleted wake-up was not made again")
		w.claim(id, time.Minute)
		require.Empty(t, w.get(id).Hold)
	})
}

func TestSweep_SuspectsLapsedLeases(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		lapsed, held := w.submit("lapsed", 0), w.submit("held", 0)
		w.claim(lapsed, -time.Minute)
		w.claim(held, time.Minute)
		w.due("lease") // whoever takes a turn looks whether it still holds
		w.sweep()
		require.Equal(t, jobs.Unknown, w.get(lapsed).State)
		require.Equal(t, "worker_lost", w.get(lapsed).Attempts[0].Reason)
		require.Equal(t, jobs.Running, w.get(held).State)
	})
}

// afterAGap is a store whose last sweep is a minute ago, with a job whose lease lapsed.
func afterAGap(t *testing.T, rdb *redis.Client) (w *watch, id string) {
	t.Helper()
	w = setup(t, rdb)
	id = w.submit("k", 0)
	w.claim(id, -time.Minute)
	w.swept(time.Minute)
	return w, id
}

// After a gap in everybody's sweeps the store was away, and so were the beats: one
// lease of patience before anybody is suspected (design §4).
func TestSweep_IsPatientAfterAGap(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w, id := afterAGap(t, rdb)
		w.sweep()
		require.Equal(t, jobs.Running, w.get(id).State, "suspected at once after a gap")
		w.due("lease")
		w.sweep() // there is no further gap, but the lease of patience is not over
		require.Equal(t, jobs.Running, w.get(id).State, "suspected in the time of patience")
		require.NoError(t, rdb.HIncrBy(w.ctx, "oj:sweep", "patient", -15_000).Err())
		w.due("lease")
		w.sweep()
		require.Equal(t, jobs.Unknown, w.get(id).State, "never suspected")
	})
}

// What patience spares is looked at again when it ends, neither a turn before nor a
// turn after that.
func TestSweep_LooksAgainWhenPatienceEnds(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w, _ := afterAGap(t, rdb)
		w.due("lease")
		w.sweep()
		patient, err := rdb.HGet(w.ctx, "oj:sweep", "patient").Float64()
		require.NoError(t, err)
		require.InDelta(t, patient, w.dueAt("lease"), 1_000)
	})
}

// A sweep that is held up by one entry is no gap: the others are told all the while
// that somebody sweeps, or under much work nobody would ever be suspected.
func TestSweep_ALongOneIsNoGap(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		w.options.Every = 10 * time.Millisecond
		told := func() string { return rdb.HGet(w.ctx, "oj:sweep", "swept").Val() }
		vouched := false
		w.options.Remind = func(string, string) jobs.Reminders { // while it sweeps
			before := told()
			vouched = assert.Eventually(t, func() bool { return told() != before }, 10*time.Second, 5*time.Millisecond)
			return jobs.Reminders{}
		}
		id := w.submit("k", 0)
		w.claim(id, -time.Minute)
		w.due("lease")
		w.sweep()
		require.True(t, vouched)
		require.Equal(t, jobs.Unknown, w.get(id).State)
	})
}

// Where nobody has ever swept, nobody has beaten, either.
func TestSweep_IsPatientAtTheFirst(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		require.NoError(t, rdb.Del(w.ctx, "oj:sweep").Err())
		id := w.submit("k", 0)
		w.claim(id, -time.Minute)
		w.sweep()
		require.Equal(t, jobs.Running, w.get(id).State)
	})
}

// A sweeper that has just started joins those that swept before it: a worker that
// crashes again and again does not keep everybody from being suspected.
func TestSweep_AStartIsNoGap(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		id := w.submit("k", 0)
		w.claim(id, -time.Minute)
		w.swept(3 * time.Second)
		w.due("lease")
		require.NoError(t, NewSweeper(w.options).Sweep(w.ctx))
		require.Equal(t, jobs.Unknown, w.get(id).State)
	})
}

// A job nobody starts in its time ends, though no worker ever comes.
func TestSweep_EndsWhatWasNotStartedInTime(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		early, late := w.submit("early", time.Hour), w.submit("late", time.Millisecond)
		require.Eventually(t, func() bool {
			w.sweep()
			return w.get(late).State == jobs.Failed
		}, 10*time.Second, 5*time.Millisecond)
		require.Equal(t, "start_expired", w.get(late).Error.Code)
		require.Equal(t, "none", w.get(late).Attempts[0].Effect)
		require.Equal(t, jobs.Queued, w.get(early).State)
	})
}

// A failed job gets a ticket, once; one that has moved on gets none.
func TestSweep_IssuesTickets(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		fail := func(key string) string {
			id := w.submit(key, 0)
			c := w.claim(id, time.Minute)
			_, err := w.store.Fail(w.ctx, jobs.Ending{JobID: id, Attempt: 1, Fence: c.Fence}, jobs.Failure{Reason: "rejected", Policy: &jobs.Policy{}})
			require.NoError(t, err)
			return id
		}
		failed, reopened := fail("failed"), fail("reopened")
		_, err := w.store.Open(w.ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: reopened}})
		require.NoError(t, err)
		w.sweep()
		tickets, err := w.inspector.ListScheduledTasks(tasks.QueueOperator)
		require.NoError(t, err)
		require.Len(t, tickets, 1)
		require.Equal(t, failed+"-retry-v1", tickets[0].ID)
		require.NotContains(t, w.left(), "ticket")
	})
}

// An expired record leaves the indexes; one that is there stays in them.
func TestSweep_UnindexesWhatExpired(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		gone, kept := w.submit("gone", 0), w.submit("kept", 0)
		for _, id := range []string{gone, kept} {
			_, err := w.store.CancelJob(w.ctx, jobs.Decision{JobID: id})
			require.NoError(t, err)
		}
		for _, key := range w.rdb.Keys(w.ctx, "oj:*:"+gone).Val() {
			require.NoError(t, w.rdb.Del(w.ctx, key).Err())
		}
		w.due("expire")
		w.sweep()
		for _, key := range append(w.rdb.Keys(w.ctx, "oj:*state:*").Val(), w.rdb.Keys(w.ctx, "oj:*owner:*").Val()...) {
			require.NotContains(t, w.rdb.ZRange(w.ctx, key, 0, -1).Val(), gone)
		}
		page, err := w.store.List(w.ctx, jobs.Query{Owner: "dev"})
		require.NoError(t, err)
		require.Len(t, page.Jobs, 1)
		require.Equal(t, kept, page.Jobs[0].ID)
	})
}

// trips counts round trips: commands by themselves, and pipelines.
type trips struct{ n *int }

func (c trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		*c.n++
		return next(ctx, cmd)
	}
}

func (c trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		*c.n++
		return next(ctx, cmds)
	}
}

// Jobs expire as quickly as they once came: one sweep takes all of a partition's that
// have, in a few round trips, and those whose records are still there stay.
func TestSweep_UnindexesManyAtOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		const many = 2*jobs.TakeMost + 50
		kept := w.submit("kept", 0)
		_, err := w.store.CancelJob(w.ctx, jobs.Decision{JobID: kept})
		require.NoError(t, err)
		prefix := strings.TrimSuffix(w.rdb.Keys(w.ctx, "oj:*:job:"+kept).Val()[0], "job:"+kept)
		pipe := w.rdb.Pipeline()
		for i := range many {
			// Of the same partition, which is at the end of the id.
			id, owner := fmt.Sprintf("%s%026d%s", kept[:4], i, kept[30:]), jobs.OwnerHash(fmt.Sprint("owner-", i%3))
			pipe.ZAdd(w.ctx, prefix+"state:succeeded", redis.Z{Score: 1, Member: id})
			pipe.ZAdd(w.ctx, prefix+"owner:"+owner, redis.Z{Score: 1, Member: id})
			pipe.ZAdd(w.ctx, prefix+"due", redis.Z{Score: 1, Member: "expire:" + id + ":" + owner})
		}
		_, err = pipe.Exec(w.ctx)
		require.NoError(t, err)
		n := 0
		rdb.AddHook(trips{&n})
		w.sweep()
		require.Less(t, n, 20)
		require.Zero(t, w.rdb.ZCard(w.ctx, prefix+"state:succeeded").Val())
		for i := range 3 {
			require.Zero(t, w.rdb.ZCard(w.ctx, prefix+"owner:"+jobs.OwnerHash(fmt.Sprint("owner-", i))).Val())
		}
		require.Equal(t, int64(1), w.rdb.ZCard(w.ctx, prefix+"due").Val(), "that of the one that is there")
		w.due("expire")
		w.sweep()
		require.Equal(t, int64(1), w.rdb.ZCard(w.ctx, prefix+"state:cancelled").Val())
	})
}
