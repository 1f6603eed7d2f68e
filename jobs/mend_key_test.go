package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// TestMend_Key: a key that is held by a job that was never made is given back to the
// job that held it, and keeps its time to live; one that is held by another job that is
// there is not.
func TestMend_Key(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submit("k")
		prefix := prefixOf(job.ID)
		other := b.neighbour(prefix)
		keys, err := rdb.Keys(b.ctx, prefix+"key:*").Result()
		require.NoError(t, err)
		var key, was string
		for _, name := range keys {
			if held := rdb.Get(b.ctx, name).Val(); strings.HasSuffix(held, job.ID) {
				key, was = name, held
			}
		}
		fingerprint, _, _ := strings.Cut(was, " ")
		holds := func(id string) {
			require.NoError(t, rdb.Set(b.ctx, key, fingerprint+" "+id, time.Hour).Err())
		}

		holds(other)
		found, err := b.Mend(b.ctx, job.ID, true)
		require.NoError(t, err)
		require.Contains(t, found, "its key is held by "+other+"; nothing can mend that")

		holds(jobs.NewID("dev", "k"))
		found, err = b.Mend(b.ctx, job.ID, false)
		require.NoError(t, err)
		require.Contains(t, found, "its key is held by a job that is not there")
		require.NotEqual(t, was, rdb.Get(b.ctx, key).Val())
		_, err = b.Mend(b.ctx, job.ID, true)
		require.NoError(t, err)
		require.Equal(t, was, rdb.Get(b.ctx, key).Val())
		require.Equal(t, job.ID, b.submit("k").ID, "the same click again finds it")
		found, err = b.Mend(b.ctx, job.ID, false)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}
