package jobs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

const hourLong = time.Hour

// TestContract_ConcurrentSubmits: any number of submissions of one intent make
// one job (I7); the others get the stored one, never their own new body.
func TestContract_ConcurrentSubmits(t *testing.T) {
	t.Parallel()
	redistest.EachAndCluster(t, func(t *testing.T, rdb redis.UniversalClient) {
		b := setup(t, rdb)
		const many = 300
		found := make([]jobs.Submitted, many)
		errs := make([]error, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() { found[i], errs[i] = b.Submit(b.ctx, submission("k", fmt.Sprintf(`{"page":%d}`, i%2))) })
		}
		all.Wait()
		created, conflicts := 0, 0
		ids := map[string]int{}
		for i := range many {
			if refusal, ok := errors.AsType[*jobs.Refusal](errs[i]); ok {
				require.Equal(t, jobs.CodeConflict, refusal.Code)
				ids[refusal.JobID]++
				conflicts++
				continue
			}
			require.NoError(t, errs[i])
			ids[found[i].Job.ID]++
			require.JSONEq(t, fmt.Sprintf(`{"page":%d}`, i%2), string(found[i].Job.Input))
			if found[i].Created {
				created++
			}
		}
		require.Len(t, ids, 1)
		require.Equal(t, 1, created)
		require.Equal(t, many/2, conflicts)
	})
}

// TestContract_OwnersAndKeysAreKeptApart: a key belongs to an owner, and `K` and
// `k` are two keys.
func TestContract_OwnersAndKeysAreKeptApart(t *testing.T) {
	t.Parallel()
	redistest.EachAndCluster(t, func(t *testing.T, rdb redis.UniversalClient) {
		b := setup(t, rdb)
		ids := map[string]bool{}
		for _, who := range [][2]string{{"dev", "k"}, {"dev", "K"}, {"other", "k"}, {"de", "vk"}, {"", "devk"}, {"devk", ""}} {
			s := submission(who[1], `{}`)
			s.Owner = who[0]
			got, err := b.Submit(b.ctx, s)
			require.NoError(t, err)
			require.True(t, got.Created, "%v found another's job", who)
			ids[got.Job.ID] = true
		}
		require.Len(t, ids, 6)
	})
}

// TestContract_CancelAgainstFinish: exactly one wins, and the other is told
// [windmill 11246].
func TestContract_CancelAgainstFinish(t *testing.T) {
	t.Parallel()
	redistest.EachAndCluster(t, func(t *testing.T, rdb redis.UniversalClient) {
		b := setup(t, rdb)
		for round := range 200 {
			c := b.claim(b.submit(fmt.Sprint(round)).ID, 1)
			var reported jobs.Reported
			var finished, cancelled error
			start := make(chan struct{})
			var both sync.WaitGroup
			both.Go(func() {
				<-start
				reported, finished = b.Finalize(b.ctx, ending(c), json.RawMessage(`"done"`), nil)
			})
			both.Go(func() {
				<-start
				_, cancelled = b.CancelJob(b.ctx, jobs.Decision{JobID: c.JobID})
			})
			close(start)
			both.Wait()
			require.NoError(t, finished)
			job := b.get(c.JobID)
			if reported.Late == "" {
				require.ErrorIs(t, cancelled, &jobs.Refusal{Code: jobs.CodeJobFinal})
				require.Equal(t, jobs.Succeeded, job.State)
				require.Equal(t, `"done"`, string(job.Result))
				require.Nil(t, job.Attempts[0].LateResult)
			} else {
				require.NoError(t, cancelled)
				require.Equal(t, "attempt_cancelled", reported.Late)
				require.Equal(t, jobs.Cancelled, job.State)
				require.Empty(t, job.Result)
				require.NotNil(t, job.Attempts[0].LateResult)
			}
		}
	})
}

// TestContract_LateOutcomesAreRecordedNeverApplied: whatever attempt 1 comes back
// with, attempt 2's success stands (I6) [woocommerce-gateway-stripe 902].
func TestContract_LateOutcomesAreRecordedNeverApplied(t *testing.T) {
	t.Parallel()
	reports := map[string]func(*bundle, *jobs.Claim) jobs.Reported{
		"failure": func(b *bundle, c *jobs.Claim) jobs.Reported { return b.fail(c, 9) },
		"success": func(b *bundle, c *jobs.Claim) jobs.Reported { return b.finalize(c, `"one"`) },
	}
	for name, report := range reports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.EachAndCluster(t, func(t *testing.T, rdb redis.UniversalClient) {
				b := setup(t, rdb)
				first := b.claim(b.submit("k").ID, 1)
				b.suspect(first)
				_, err := b.Resolve(b.ctx, jobs.Resolution{Decision: jobs.Decision{JobID: first.JobID, Attempt: 1, Reason: "given up"}, Outcome: "cancelled"})
				require.NoError(t, err)
				_, err = b.Open(b.ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: first.JobID}, Provider: "laser"})
				require.NoError(t, err)

				// Also while the second still runs: the first is shut out already.
				second := b.claim(first.JobID, 2)
				early := report(b, first)
				require.Equal(t, "attempt_cancelled", early.Late)
				require.Equal(t, jobs.Running, b.get(first.JobID).State)

				require.Empty(t, b.finalize(second, `"two"`).Late)
				won := b.get(first.JobID)
				late := report(b, first)
				require.NotEmpty(t, late.Late)
				after := b.get(first.JobID)
				require.Equal(t, jobs.Succeeded, after.State)
				require.Equal(t, 2, after.CompletedBy)
				require.Equal(t, `"two"`, string(after.Result))
				require.Equal(t, won.Version, after.Version)
				require.Equal(t, jobs.AttemptCancelled, after.Attempt(1).State)
				require.Equal(t, early.SHA256, after.Attempt(1).LateResult.SHA256)
				require.Empty(t, after.Attempt(2).LateResult)
				require.Equal(t, won.Attempt(2), after.Attempt(2))

				trail, err := b.Events(b.ctx, first.JobID, "", 100)
				require.NoError(t, err)
				discarded := 0
				for _, e := range trail {
					if e.Verb == "late_result_discarded" {
						discarded++
					}
				}
				require.Equal(t, 2, discarded, "every late outcome is in the trail")
			})
		})
	}
}

// TestContract_RecoveryNeverWritesOverAnEnd: a sweep that comes when the record
// was completed meanwhile changes nothing [powertools-typescript 5714].
func TestContract_RecoveryNeverWritesOverAnEnd(t *testing.T) {
	t.Parallel()
	redistest.EachAndCluster(t, func(t *testing.T, rdb redis.UniversalClient) {
		b := setup(t, rdb)
		lapsed := jobs.NewStore(rdb, jobs.Options{Lease: -time.Minute})
		t.Cleanup(func() { _ = lapsed.Close() })
		id := b.submit("k").ID
		c, err := lapsed.Claim(b.ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: "t", Provider: "inkjet", Deadline: time.Hour})
		require.NoError(t, err)
		b.finalize(c, `"done"`)
		before := b.get(id)
		suspected, err := b.Suspect(b.ctx, jobs.Suspicion{JobID: id, Attempt: 1, Actor: "sweeper"})
		require.NoError(t, err)
		require.False(t, suspected)
		require.NoError(t, b.Look(b.ctx, id, 1, "absent"))
		wakes, why, err := b.Race(b.ctx, id, 1, policy(5))
		require.NoError(t, err)
		require.Empty(t, wakes)
		require.Equal(t, "moved_on", why)
		require.NoError(t, b.ExpireStart(b.ctx, id, 1))
		require.Equal(t, before, b.get(id))
	})
}

// TestContract_ALapsedLeaseIsSuspectedOnceAndStillSettles: the worker was paused
// longer than its lease, after its call had left: its answer is late only if
// somebody has decided meanwhile.
func TestContract_ALapsedLeaseIsSuspectedOnceAndStillSettles(t *testing.T) {
	t.Parallel()
	redistest.EachAndCluster(t, func(t *testing.T, rdb redis.UniversalClient) {
		b := setup(t, rdb)
		lapsed := jobs.NewStore(rdb, jobs.Options{Lease: -time.Minute})
		t.Cleanup(func() { _ = lapsed.Close() })
		for _, decided := range []bool{false, true} {
			id := b.submit(fmt.Sprint(decided)).ID
			c, err := lapsed.Claim(b.ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: "t", Provider: "inkjet", Deadline: time.Hour})
			require.NoError(t, err)
			suspicions := 0
			for range 3 {
				suspected, err := b.Suspect(b.ctx, jobs.Suspicion{JobID: id, Attempt: 1, Actor: "sweeper"})
				require.NoError(t, err)
				if suspected {
					suspicions++
				}
			}
			require.Equal(t, 1, suspicions)
			require.Equal(t, "worker_lost", b.get(id).Attempts[0].Reason)
			beating, err := b.Beat(b.ctx, c, 0)
			require.NoError(t, err)
			require.False(t, beating, "it beats on although it was given up")
			if decided {
				_, err := b.Resolve(b.ctx, jobs.Resolution{Decision: jobs.Decision{JobID: id, Attempt: 1, Reason: "seen"}, Outcome: "failed"})
				require.NoError(t, err)
			}
			late := b.finalize(c, `"done"`).Late
			if decided {
				require.Equal(t, "attempt_failed", late)
				require.Equal(t, jobs.Failed, b.get(id).State)
			} else {
				require.Empty(t, late)
				require.Equal(t, jobs.Succeeded, b.get(id).State)
			}
		}
	})
}
