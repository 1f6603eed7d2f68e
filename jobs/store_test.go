package jobs_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// bundle is a store and the shortest way to say what is done with it.
type bundle struct {
	*jobs.Store
	rdb redis.UniversalClient
	ctx context.Context
	t   *testing.T
}

func setup(t *testing.T, rdb redis.UniversalClient) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	store := jobs.NewStore(rdb, jobs.Options{})
	t.Cleanup(func() {
		cancel()
		require.NoError(t, store.Close())
	})
	return &bundle{Store: store, rdb: rdb, ctx: ctx, t: t}
}

// policy allows n attempts at inkjet, then laser.
func policy(n int) *jobs.Policy {
	return &jobs.Policy{
		MaxAttempts: n, Tries: 1, Failover: "untested",
		Providers: []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser"}},
	}
}

func submission(key, input string) jobs.Submission {
	return jobs.Submission{
		Owner: "dev", Key: key, Fingerprint: "v1:" + input, Route: "print", Provider: "inkjet", Input: json.RawMessage(input),
	}
}

func (b *bundle) submit(key string) *jobs.Job {
	b.t.Helper()
	s, err := b.Submit(b.ctx, submission(key, `{"page":1}`))
	require.NoError(b.t, err)
	return s.Job
}

func (b *bundle) claim(id string, n int) *jobs.Claim {
	b.t.Helper()
	job := b.get(id)
	c, err := b.Claim(b.ctx, jobs.ClaimRequest{
		JobID: id, Attempt: n, Token: jobs.NewOp(), Provider: job.Attempt(n).Provider, Deadline: time.Minute, Actor: "worker",
	})
	require.NoError(b.t, err)
	return c
}

func (b *bundle) get(id string) *jobs.Job {
	b.t.Helper()
	job, err := b.Get(b.ctx, id)
	require.NoError(b.t, err)
	return job
}

func (b *bundle) finalize(c *jobs.Claim, result string) jobs.Reported {
	b.t.Helper()
	r, err := b.Finalize(b.ctx, ending(c), json.RawMessage(result), nil)
	require.NoError(b.t, err)
	return r
}

func (b *bundle) fail(c *jobs.Claim, n int) jobs.Reported {
	b.t.Helper()
	r, err := b.Fail(b.ctx, ending(c), jobs.Failure{Reason: "busy", Message: "come back", Retryable: true, Policy: policy(n)})
	require.NoError(b.t, err)
	return r
}

func (b *bundle) suspect(c *jobs.Claim) {
	b.t.Helper()
	ok, err := b.Suspect(b.ctx, jobs.Suspicion{JobID: c.JobID, Attempt: c.Attempt, Token: c.Token, Reason: "timeout", Actor: "worker"})
	require.NoError(b.t, err)
	require.True(b.t, ok)
}

func ending(c *jobs.Claim) jobs.Ending {
	return jobs.Ending{JobID: c.JobID, Attempt: c.Attempt, Fence: c.Fence, Effect: "done", Actor: "worker"}
}

func TestStore_OneJobFromSubmitToResult(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submit("k")
		require.Equal(t, jobs.Queued, job.State)
		require.Equal(t, int64(1), job.Version)
		require.JSONEq(t, `{"page":1}`, string(job.Input))

		c := b.claim(job.ID, 1)
		require.Equal(t, int64(1), c.Fence)
		require.Equal(t, jobs.Running, b.get(job.ID).State)

		r := b.finalize(c, `{"ok":true}`)
		require.Empty(t, r.Late)
		done := b.get(job.ID)
		require.Equal(t, jobs.Succeeded, done.State)
		require.Equal(t, 1, done.CompletedBy)
		require.Equal(t, int64(2), done.Version)
		require.Equal(t, `{"ok":true}`, string(done.Result))
		require.Equal(t, jobs.AttemptSucceeded, done.Attempts[0].State)

		trail, err := b.Events(b.ctx, job.ID, "", 100)
		require.NoError(t, err)
		verbs := make([]string, len(trail))
		for i, e := range trail {
			verbs[i] = e.Verb
		}
		require.Equal(t, []string{"submit", "claim", "finalize"}, verbs)
	})
}

// TestStore_WhatAProviderWroteStaysInItsPlace: tabs and new lines in what is kept of a
// call end no value and no line of the record.
func TestStore_WhatAProviderWroteStaysInItsPlace(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submit("k")
		end := ending(b.claim(job.ID, 1))
		end.Evidence = json.RawMessage("{\n\t\"mine\": 1\r\n}")
		_, err := b.Finalize(b.ctx, end, json.RawMessage(`{}`), json.RawMessage("{\n\t\"tokens\": 7\n}"))
		require.NoError(t, err)
		done := b.get(job.ID)
		require.Equal(t, jobs.Succeeded, done.State)
		require.Len(t, done.Attempts, 1)
		require.JSONEq(t, `{"mine":1}`, string(done.Attempts[0].Evidence))
		require.JSONEq(t, `{"tokens":7}`, string(done.Attempts[0].Usage))
		b.agree(job.ID)

		// What a look-up said is compared as it is kept, or every look would be news.
		asked := b.submit("asked")
		b.suspect(b.claim(asked.ID, 1))
		require.NoError(t, b.Look(b.ctx, asked.ID, 1, "gone\nfor good"))
		require.NoError(t, b.Look(b.ctx, asked.ID, 1, "gone\nfor good"))
		require.Len(t, b.trail(asked.ID, "look"), 1)
	})
}
