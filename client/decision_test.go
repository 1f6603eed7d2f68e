package client_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/client"
)

// unknownJob is a job whose first attempt is unknown.
func (b *bundle) unknownJob() *client.Job {
	b.t.Helper()
	job, err := b.direct.Submit(b.ctx, client.Request{Route: "print", Input: page("hang")})
	require.NoError(b.t, err)
	job = b.until(job.ID, client.Unknown)
	require.NotNil(b.t, job)
	return job
}

func TestRetry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job, err := b.direct.Do(b.ctx, client.Request{Route: "print", Input: page("reject")})
	require.ErrorAs(t, err, new(*client.JobError))
	again, err := b.direct.Retry(b.ctx, job.ID, "laser", client.Decision{Reason: "new paper", ExpectVersion: job.Version})
	require.NoError(t, err)
	require.Len(t, again.Attempts, 2)
	require.Equal(t, "laser", again.Attempts[1].Provider)
	_, err = b.direct.Retry(b.ctx, job.ID, "", client.Decision{ExpectVersion: job.Version})
	require.ErrorIs(t, err, client.ErrVersion, "a decision was made since")
	_, err = b.direct.Retry(b.ctx, job.ID, "dot", client.Decision{})
	require.ErrorIs(t, err, client.ErrInvalid)
}

func TestDecisions_OnAnUnknownAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknownJob()
	require.Equal(t, 1, job.BlockedBy.Attempt)
	require.Equal(t, client.AttemptUnknown, job.BlockedBy.State)
	require.NotEmpty(t, job.BlockedBy.Actions)
	require.False(t, job.Next.Allowed)

	_, err := b.direct.Retry(b.ctx, job.ID, "", client.Decision{})
	require.ErrorIs(t, err, client.ErrUnresolved)
	var p *client.Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, 1, p.Attempt.Number)
	require.NotEmpty(t, p.Hint)

	_, err = b.direct.Resolve(b.ctx, job.ID, 1, client.Resolution{Outcome: client.AttemptFailed, Decision: client.Decision{Reason: "r"}})
	require.ErrorIs(t, err, client.ErrForbidden, "for operators")
	_, err = b.direct.CancelAttempt(b.ctx, job.ID, 1, false, client.Decision{})
	require.ErrorIs(t, err, client.ErrInvalid, "a reason is wanted")
	_, err = b.direct.CancelAttempt(b.ctx, job.ID, 7, false, client.Decision{Reason: "r"})
	require.ErrorIs(t, err, client.ErrNotFound)

	gone, err := b.direct.CancelAttempt(b.ctx, job.ID, 1, true, client.Decision{Reason: "twice is fine"})
	require.NoError(t, err)
	require.Equal(t, client.AttemptCancelled, gone.Attempts[0].State)
	require.Len(t, gone.Attempts, 2, "the plan went on")
	_, err = b.direct.CancelAttempt(b.ctx, job.ID, 1, false, client.Decision{Reason: "r"})
	require.ErrorIs(t, err, client.ErrSettled)

	ended, err := b.direct.Cancel(b.ctx, job.ID, client.Decision{Reason: "no more"})
	require.NoError(t, err)
	require.Equal(t, client.Cancelled, ended.State)
	require.ErrorContains(t, ended.Err(), "is cancelled")
	_, err = b.direct.Cancel(b.ctx, job.ID, client.Decision{})
	require.ErrorIs(t, err, client.ErrFinal)
}

// TestDecision_IsNotSentTwice: unless it was certainly not taken.
func TestDecision_IsNotSentTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknownJob()
	b.proxy.do(says(http.StatusTooManyRequests), dropped)
	_, err := b.through().Cancel(b.ctx, job.ID, client.Decision{Reason: "r"})
	var unknown *client.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.Empty(t, unknown.Key)
	require.ErrorContains(t, err, "outcome of cancel unknown; read the job")
	posts, _ := b.proxy.sent(t)
	require.Equal(t, 2, posts)
	ended, err := b.direct.Get(b.ctx, job.ID)
	require.NoError(t, err)
	require.Equal(t, client.Cancelled, ended.State, "it was taken")
}
