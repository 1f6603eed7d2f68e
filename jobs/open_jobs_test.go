package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// TestOpenJobs_CountsWhatHasNotEnded through ends and reopenings, owner by owner; a
// replay counts once.
func TestOpenJobs_CountsWhatHasNotEnded(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		store := jobs.NewStore(rdb, jobs.Options{})
		defer func() { require.NoError(t, store.Close()) }()
		open := func(want int, owner string) {
			t.Helper()
			n, err := store.OpenJobs(ctx, owner)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		submit := func(owner, key string) string {
			s, err := store.Submit(ctx, jobs.Submission{
				Owner: owner, Key: key, Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`),
			})
			require.NoError(t, err)
			return s.Job.ID
		}
		open(0, "acme")
		ids := make([]string, 20)
		for i := range ids {
			ids[i] = submit("acme", fmt.Sprint("k", i))
			require.Equal(t, ids[i], submit("acme", fmt.Sprint("k", i)))
		}
		submit("other", "k1")
		open(20, "acme")
		open(1, "other")

		_, err := store.CancelJob(ctx, jobs.Decision{JobID: ids[0], Actor: "acme"})
		require.NoError(t, err)
		open(19, "acme")
		claim, err := store.Claim(ctx, jobs.ClaimRequest{JobID: ids[1], Attempt: 1, Token: "t", Provider: "inkjet", Deadline: time.Minute})
		require.NoError(t, err)
		open(19, "acme")
		_, err = store.Fail(ctx, jobs.Ending{JobID: ids[1], Attempt: 1, Fence: claim.Fence}, jobs.Failure{Reason: "no", Policy: &jobs.Policy{}})
		require.NoError(t, err)
		open(18, "acme")
		changed, err := store.Open(ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: ids[1], Actor: "acme"}})
		require.NoError(t, err)
		require.Equal(t, jobs.OwnerHash("acme"), changed.Wakes[0].Owner, "the wake-up knows whose it is")
		open(19, "acme")
		open(1, "other")

		held, err := store.KeyHeld(ctx, "acme", "k1")
		require.NoError(t, err)
		require.True(t, held)
		held, err = store.KeyHeld(ctx, "other", "k2")
		require.NoError(t, err)
		require.False(t, held)
	})
}

// TestRecount finds and mends a count that somebody changed, or that a release before
// this one did not keep (I11).
func TestRecount(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		store := jobs.NewStore(rdb, jobs.Options{})
		defer func() { require.NoError(t, store.Close()) }()
		id := jobs.NewID("acme", "k")
		_, err := store.Submit(ctx, jobs.Submission{
			ID: id, Owner: "acme", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`),
		})
		require.NoError(t, err)
		keys, err := rdb.Keys(ctx, "oj:{*}:open").Result()
		require.NoError(t, err)
		require.Len(t, keys, 1)
		hash := jobs.OwnerHash("acme")
		recount := func(repair bool) (found []jobs.Miscount) {
			require.NoError(t, store.Recount(ctx, repair, func(m jobs.Miscount) error {
				found = append(found, m)
				return nil
			}))
			return found
		}
		require.Empty(t, recount(false))
		for name, c := range map[string]struct {
			harm func() error
			want jobs.Miscount
		}{
			"gone":       {func() error { return rdb.Del(ctx, keys[0]).Err() }, jobs.Miscount{Key: keys[0], OwnerHash: hash, There: 1}},
			"too high":   {func() error { return rdb.HSet(ctx, keys[0], hash, 7).Err() }, jobs.Miscount{Key: keys[0], OwnerHash: hash, Counted: 7, There: 1}},
			"of nobody":  {func() error { return rdb.HSet(ctx, keys[0], "x", 2).Err() }, jobs.Miscount{Key: keys[0], OwnerHash: "x", Counted: 2}},
			"no number":  {func() error { return rdb.HSet(ctx, keys[0], hash, "many").Err() }, jobs.Miscount{Key: keys[0], OwnerHash: hash, There: 1}},
			"other part": {func() error { return rdb.HSet(ctx, "oj:{5}:open", hash, 1).Err() }, jobs.Miscount{Key: "oj:{5}:open", OwnerHash: hash, Counted: 1}},
		} {
			require.NoError(t, c.harm(), name)
			require.Equal(t, []jobs.Miscount{c.want}, recount(false), name)
			require.Len(t, recount(true), 1, name)
			require.Empty(t, recount(false), name)
		}
	})
}
