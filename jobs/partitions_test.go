package jobs_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

func TestPartitions(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		store := jobs.NewStore(rdb, jobs.Options{})
		t.Cleanup(func() { _ = store.Close() })
		ctx := t.Context()
		empty, err := store.Partitions(ctx)
		require.NoError(t, err)
		require.Len(t, empty, jobs.Partitions)
		require.Equal(t, jobs.PartitionFacts{Partition: 63}, empty[63])

		submitted, err := store.Submit(ctx, jobs.Submission{
			Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`),
		})
		require.NoError(t, err)
		facts, err := store.Partitions(ctx)
		require.NoError(t, err)
		var there jobs.PartitionFacts
		for _, f := range facts {
			if f.Open > 0 {
				there = f
			}
		}
		require.EqualValues(t, 1, there.Open)
		require.EqualValues(t, 1, there.Due, "its wake-up")
		require.Positive(t, there.Seq)
		require.Zero(t, there.Rewinds)

		_, err = store.CancelJob(ctx, jobs.Decision{JobID: submitted.Job.ID, Actor: "dev"})
		require.NoError(t, err)
		prefix := fmt.Sprintf("oj:{%d}:", there.Partition)
		require.NoError(t, rdb.Incr(ctx, prefix+"epoch").Err())
		late := time.Now().Add(-time.Minute).UnixMilli()
		require.NoError(t, rdb.ZAdd(ctx, prefix+"due", redis.Z{Score: float64(late), Member: "wake:x"}).Err())
		facts, err = store.Partitions(ctx)
		require.NoError(t, err)
		now := facts[there.Partition]
		require.Zero(t, now.Open)
		require.EqualValues(t, 1, now.Ended)
		require.EqualValues(t, 1, now.Rewinds)
		require.InDelta(t, time.Minute, now.Lag, float64(30*time.Second))
		require.Greater(t, now.Seq, there.Seq)
	})
}
