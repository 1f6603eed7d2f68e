package recovery_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/jobs/recordtest"
)

// damage is something that went wrong in the store, by hand or by a bug.
type damage struct {
	state jobs.State // of the job that is damaged
	do    func(ctx context.Context, rdb *redis.Client, d damaged) error
	says  string
}

// damaged are the names of what can be damaged.
type damaged struct{ id, prefix, job, key, ownerHash string }

const otherID = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV00" // of no job

var damages = map[string]damage{
	"index entry gone": {jobs.Queued, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZRem(ctx, d.prefix+"state:queued", d.id).Err()
	}, "not listed as queued"},
	"wrong index entry": {jobs.Queued, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZAdd(ctx, d.prefix+"state:failed", redis.Z{Score: 1, Member: d.id}).Err()
	}, "listed as failed"},
	"owner entry gone": {jobs.Running, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZRem(ctx, d.prefix+"owner:"+d.ownerHash, d.id).Err()
	}, "not listed for its owner"},
	"wake-up entry gone": {jobs.Queued, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZRem(ctx, d.prefix+"due", "wake:"+d.id+":1").Err()
	}, "nothing due for wake"},
	"lease entry gone": {jobs.Running, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZRem(ctx, d.prefix+"due", "lease:"+d.id+":1").Err()
	}, "nothing due for lease"},
	"look-up entry gone": {jobs.Unknown, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZRem(ctx, d.prefix+"due", "lookup:"+d.id+":1").Err()
	}, "nothing due for lookup"},
	"start entry gone": {jobs.Queued, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZRem(ctx, d.prefix+"due", "start:"+d.id+":1").Err()
	}, "nothing due for start"},
	"expiry entry gone": {jobs.Failed, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZRem(ctx, d.prefix+"due", "expire:"+d.id+":"+d.ownerHash).Err()
	}, "nothing due for expire"},
	"open job with a time to live": {jobs.Unknown, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.Expire(ctx, d.job, time.Hour).Err()
	}, "though the job has not ended"},
	"open key with a time to live": {jobs.Queued, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.Expire(ctx, d.key, time.Hour).Err()
	}, "though the job has not ended"},
	"ended job without one": {jobs.Failed, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.Persist(ctx, d.job).Err()
	}, "though the job has ended"},
	"key freed": {jobs.Running, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.Del(ctx, d.key).Err()
	}, "its key is free"},
	"wrong state": {jobs.Unknown, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return recordtest.Set(ctx, rdb, d.job, map[string]any{"state": "queued"})
	}, "its attempts say unknown"},
	"wrong count of open jobs": {jobs.Running, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.HIncrBy(ctx, d.prefix+"open", d.ownerHash, 1).Err()
	}, "2 open jobs of owner"},
	"stray in an index": {jobs.Queued, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZAdd(ctx, "oj:{0}:state:queued", redis.Z{Score: 1, Member: otherID}).Err()
	}, "is not there"},
	"stray due entry": {jobs.Queued, func(ctx context.Context, rdb *redis.Client, d damaged) error {
		return rdb.ZAdd(ctx, "oj:{0}:due", redis.Z{Score: 1, Member: "lease:" + otherID + ":1"}).Err()
	}, "is not there"},
}

func TestFsck_FindsAndMends(t *testing.T) {
	needs(t)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{})
			d := w.seeded(damage.state)
			w.fsckClean()
			require.NoError(t, damage.do(w.ctx, w.rdb, d))
			w.found(damage.says)
		})
	}
	t.Run("stray wake-up", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, setting{})
		w.seeded(jobs.Queued)
		w.wakeAgain(otherID, 1)
		w.found("wakes a job that is not there")
	})
}

// found: fsck finds it and exits with 1, mends it when asked, and then is content.
func (w *world) found(says string) {
	w.t.Helper()
	out, ok := w.fsck()
	require.False(w.t, ok, "fsck is content: %s", out)
	require.Contains(w.t, out, says)
	out, ok = w.fsck("--repair")
	require.True(w.t, ok, "fsck --repair: %s", out)
	require.Contains(w.t, out, "repaired")
	w.fsckClean()
}

// seeded makes a job in a state, by verbs.
func (w *world) seeded(state jobs.State) damaged {
	w.t.Helper()
	s, err := w.store.Submit(w.ctx, jobs.Submission{
		Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`),
		StartWithin: time.Hour,
	})
	require.NoError(w.t, err)
	id := s.Job.ID
	if state != jobs.Queued {
		c, err := w.store.Claim(w.ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: "t", Provider: "press", Deadline: time.Minute})
		require.NoError(w.t, err)
		switch state {
		case jobs.Unknown:
			_, err = w.store.Suspect(w.ctx, jobs.Suspicion{JobID: id, Attempt: 1, Token: "t", Reason: "timeout", Reminders: jobs.Reminders{Lookup: time.Hour}})
		case jobs.Failed:
			_, err = w.store.Fail(w.ctx, jobs.Ending{JobID: id, Attempt: 1, Fence: c.Fence}, jobs.Failure{Reason: "no", Policy: &jobs.Policy{}})
		}
		require.NoError(w.t, err)
	}
	require.Equal(w.t, state, w.job(id).State)
	keys := w.keysOf(id)
	owner, err := recordtest.Get(w.ctx, w.rdb, keys[0], "owner_hash")
	require.NoError(w.t, err)
	return damaged{
		id: id, prefix: strings.TrimSuffix(keys[0], "job:"+id), job: keys[0], key: keys[1],
		ownerHash: owner,
	}
}
