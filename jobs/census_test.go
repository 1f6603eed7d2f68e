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
	"onejob/jobs/recordtest"
	"onejob/redistest"
)

func TestCensus(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		store := jobs.NewStore(rdb, jobs.Options{})
		t.Cleanup(func() { _ = store.Close() })
		ctx := t.Context()
		empty, err := store.Census(ctx)
		require.NoError(t, err)
		require.Equal(t, jobs.Census{Jobs: map[jobs.State]int64{
			jobs.Queued: 0, jobs.Running: 0, jobs.Unknown: 0, jobs.Succeeded: 0, jobs.Failed: 0, jobs.Cancelled: 0,
		}}, empty)

		claim := func(key string) *jobs.Claim {
			s, err := store.Submit(ctx, jobs.Submission{
				Owner: "dev", Key: key, Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`),
			})
			require.NoError(t, err)
			c, err := store.Claim(ctx, jobs.ClaimRequest{
				JobID: s.Job.ID, Attempt: 1, Token: jobs.NewOp(), Provider: "inkjet", Deadline: time.Minute,
			})
			require.NoError(t, err)
			return c
		}
		suspect := func(c *jobs.Claim, reason string, r jobs.Reminders) {
			suspected, err := store.Suspect(ctx, jobs.Suspicion{JobID: c.JobID, Attempt: 1, Token: c.Token, Reason: reason, Reminders: r})
			require.NoError(t, err)
			require.True(t, suspected)
		}
		claim("running")
		cancelled := claim("cancelled")
		_, err = store.CancelJob(ctx, jobs.Decision{JobID: cancelled.JobID, Actor: "dev"})
		require.NoError(t, err)
		listened, lost, asked := claim("listened"), claim("lost"), claim("asked")
		suspect(listened, "timeout", jobs.Reminders{})
		suspect(lost, "connection_lost", jobs.Reminders{Settle: time.Hour})
		suspect(asked, "connection_lost", jobs.Reminders{Lookup: time.Hour})

		c, err := store.Census(ctx)
		require.NoError(t, err)
		require.Equal(t, map[jobs.State]int64{
			jobs.Queued: 0, jobs.Running: 1, jobs.Unknown: 3, jobs.Succeeded: 0, jobs.Failed: 0, jobs.Cancelled: 1,
		}, c.Jobs)
		settling := map[string]bool{}
		for _, u := range c.Unknown {
			require.Equal(t, "inkjet", u.Provider)
			require.Equal(t, 1, u.Attempt)
			require.WithinDuration(t, time.Now(), u.Since.Go(), time.Minute)
			settling[u.JobID] = u.Settling
		}
		require.Equal(t, map[string]bool{listened.JobID: true, lost.JobID: false, asked.JobID: true}, settling)
		require.Equal(t, int64(1), c.Overdue, "the provider is to be asked to cancel, at once")
		require.Equal(t, int64(5), c.Due, "besides: a lease, a look-up, a settling, an expiry")
		require.Less(t, c.Lag, time.Minute)
	})
}

// The longest unknown comes first, and no more are read than a census may.
func TestCensus_TheLongestUnknownFirst(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	store := jobs.NewStore(rdb, jobs.Options{})
	t.Cleanup(func() { _ = store.Close() })
	id := jobs.NewID("dev", "k")
	id = id[:len(id)-2] + "05" // the last two tell the partition
	const index, many = "oj:{5}:", 30
	for i := range many {
		other := id[:len(id)-4] + fmt.Sprintf("%02d", i) + "05"
		require.NoError(t, rdb.ZAdd(t.Context(), index+"state:unknown", redis.Z{Score: float64(i), Member: other}).Err())
		require.NoError(t, recordtest.Set(t.Context(), rdb, index+"job:"+other, map[string]any{
			"attempts": 2, "1.state": "failed", "1.unknown_at": 1, "2.state": "unknown", "2.unknown_at": 1000 - i, "2.provider": "inkjet",
		}))
	}
	c, err := store.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, many, c.Jobs[jobs.Unknown])
	require.Len(t, c.Unknown, 20)
	require.Equal(t, jobs.Time(981), c.Unknown[0].Since)
	require.Equal(t, 2, c.Unknown[0].Attempt)
	require.Equal(t, jobs.Time(1000), c.Unknown[19].Since)
}

func TestVerbOf(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	var seen []string
	rdb.AddHook(verbHook{seen: &seen})
	store := jobs.NewStore(rdb, jobs.Options{})
	t.Cleanup(func() { _ = store.Close() })
	for range 2 {
		_, err := store.Get(t.Context(), jobs.NewID("dev", "k"))
		require.ErrorContains(t, err, "not_found")
	}
	require.Equal(t, []string{"read", "read", "read"}, seen, "unknown to the server, sent whole, known")
	require.Empty(t, jobs.VerbOf(redis.NewCmd(t.Context(), "evalsha", "another's")))
	require.Empty(t, jobs.VerbOf(redis.NewCmd(t.Context(), "fcall", "another's")))
	require.Empty(t, jobs.VerbOf(redis.NewCmd(t.Context(), "get", "k")))
	require.Empty(t, jobs.VerbOf(redis.NewCmd(t.Context(), "ping")))
}

// verbHook keeps the verbs that were run; in by, if that is not nil, the commands that ran
// them.
type verbHook struct{ seen, by *[]string }

func (v verbHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (v verbHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if verb := jobs.VerbOf(cmd); verb != "" {
			*v.seen = append(*v.seen, verb)
			if v.by != nil {
				*v.by = append(*v.by, cmd.Name())
			}
		}
		return next(ctx, cmd)
	}
}

func (v verbHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
