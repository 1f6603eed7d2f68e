package jobs_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// To wait is a line of the trail and nothing else, once however often it is sent.
func TestStore_Wait(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submit("k")
		c := b.claim(job.ID, 1)
		b.suspect(c)
		before := b.get(job.ID)
		d := jobs.Decision{JobID: job.ID, Attempt: 1, Actor: "operator:ann", Reason: "asked the printer", Op: jobs.NewOp()}
		for range 2 {
			changed, err := b.Wait(b.ctx, d)
			require.NoError(t, err)
			require.Empty(t, changed.Wakes)
			require.Equal(t, before.State, changed.Job.State)
			require.Equal(t, before.Version, changed.Job.Version)
			require.Equal(t, before.Attempts, changed.Job.Attempts)
		}
		trail, err := b.Events(b.ctx, job.ID, "", 100)
		require.NoError(t, err)
		require.Len(t, trail, 4, "submit, claim, suspect, wait")
		last := trail[3]
		require.Equal(t, "operator:ann", last.Actor)
		require.Equal(t, jobs.VerbWait, last.Verb)
		require.Equal(t, "asked the printer", last.Reason)
		require.Equal(t, "unknown", last.To)

		_, err = b.Wait(b.ctx, jobs.Decision{JobID: job.ID, Attempt: 7})
		require.ErrorIs(t, err, &jobs.Refusal{Code: jobs.CodeNoAttempt})
		_, err = b.Wait(b.ctx, jobs.Decision{JobID: jobs.NewID("dev", "none"), Attempt: 1})
		require.ErrorIs(t, err, &jobs.Refusal{Code: jobs.CodeNotFound})
		require.Equal(t, jobs.AttemptUnknown, b.get(job.ID).Attempts[0].State)
		require.Empty(t, b.finalize(c, `{"ok":true}`).Late, "a late answer still counts")
	})
}
