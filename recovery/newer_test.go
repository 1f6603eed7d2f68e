package recovery

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
	"onejob/tasks"
)

// What is due of a job that a newer onejob wrote stays due, is told of, and holds up
// nobody; fsck leaves it alone, its wake-up too, and says so.
func TestNewer_IsLeftAlone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := setup(t, rdb)
		var log bytes.Buffer
		w.options.Log = slog.New(slog.NewTextHandler(&log, nil))
		id := w.submit("k", 0)
		queue := w.options.Queue
		require.NoError(t, queue.Enqueue(w.ctx, jobs.Wake{JobID: id, Attempt: 1, Provider: "inkjet"}))
		records, err := rdb.Keys(w.ctx, "*:job:"+id).Result()
		require.NoError(t, err)
		require.NoError(t, rdb.HSet(w.ctx, records[0], "v", jobs.Schema+1).Err())
		due, err := rdb.Keys(w.ctx, "*:due").Result()
		require.NoError(t, err)
		before, err := rdb.HGetAll(w.ctx, records[0]).Result()
		require.NoError(t, err)
		require.NoError(t, rdb.ZAdd(w.ctx, due[0], redis.Z{Score: 1, Member: "wake:" + id + ":1"}).Err())

		w.sweep()
		require.Contains(t, log.String(), "left to a newer onejob")
		entries, err := rdb.ZRangeWithScores(w.ctx, due[0], 0, -1).Result()
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.InDelta(t, time.Now().UnixMilli(), entries[0].Score, 60_000, "moved on a little")

		fsck := Fsck{Store: w.store, Queue: queue, Queues: []string{"inkjet"}, Repair: true, Found: func(f Finding) { require.Fail(t, "found", "%+v", f) }}
		checked, err := fsck.Run(w.ctx)
		require.NoError(t, err)
		require.Equal(t, Checked{Jobs: 1, Tasks: 1, Newer: 1}, checked)
		_, err = w.inspector.GetTaskInfo("inkjet", tasks.Wake{JobID: id, Attempt: 1}.JobID+"-a1")
		require.NoError(t, err)
		after, err := rdb.HGetAll(w.ctx, records[0]).Result()
		require.NoError(t, err)
		require.Equal(t, before, after)
	})
}
