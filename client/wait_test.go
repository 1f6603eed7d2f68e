package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/client"
)

func TestDo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job, err := b.direct.Do(b.ctx, client.Request{Route: "print", Input: page(""), Key: "k"})
	require.NoError(t, err)
	require.Equal(t, client.Succeeded, job.State)
	require.Equal(t, 1, job.CompletedBy)
	var result map[string]any
	require.NoError(t, job.DecodeResult(&result))
	require.NotEmpty(t, result)

	again, err := b.direct.Do(b.ctx, client.Request{Route: "print", Input: page(""), Key: "k"})
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, job.Result, again.Result)
}

func TestDo_JobThatFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job, err := b.direct.Do(b.ctx, client.Request{Route: "print", Input: page("reject")})
	var failed *client.JobError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, job, failed.Job)
	require.Equal(t, "rejected", job.Error.Code)
	require.ErrorContains(t, err, "failed: rejected")
	require.Error(t, job.DecodeResult(new(any)))
}

// TestDo_JobThatIsUnknown: an unknown outcome is no failure and no success: the wait
// goes on until its context ends, and says how the job stood.
func TestDo_JobThatIsUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	id := make(chan string, 1)
	go func() {
		// When the job is unknown the wait has had time to see it.
		job := b.until(<-id, client.Unknown)
		if job != nil {
			cancel()
		}
	}()
	job, err := b.direct.Submit(ctx, client.Request{Route: "print", Input: page("hang")})
	require.NoError(t, err)
	id <- job.ID
	last, err := b.clientOf(b.proxy.url, "dev-key", client.WithHold(time.Second)).Wait(ctx, job.ID)
	var open *client.NotEndedError
	require.ErrorAs(t, err, &open)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, job.ID, open.JobID)
	require.Equal(t, last, open.Job)

	resolved, err := b.clientOf(b.proxy.url, "dev-operator-key").Resolve(b.ctx, job.ID, 1, client.Resolution{
		Outcome: client.AttemptSucceeded, Result: map[string]int{"pages": 1}, Decision: client.Decision{Reason: "seen in the tray"},
	})
	require.NoError(t, err)
	require.Equal(t, client.Succeeded, resolved.State)
	ended, err := b.direct.Wait(b.ctx, job.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"pages":1}`, string(ended.Result))
}

// until follows a job until it is in that state; nil when the test is over before.
func (b *bundle) until(id string, state client.State) *client.Job {
	for event, err := range b.direct.Events(b.ctx, id, "") {
		if err != nil {
			return nil
		}
		if event.To != string(state) {
			continue
		}
		if job, err := b.direct.Get(b.ctx, id); err == nil && job.State == state {
			return job
		}
	}
	return nil
}

// TestWait_OutlastsTheServer: broken connections, a balancer without servers, and
// a server that is not there for a while.
func TestWait_OutlastsTheServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job, err := b.direct.Submit(b.ctx, client.Request{Route: "print", Input: page("")})
	require.NoError(t, err)
	b.proxy.do(dropped, cut, says(503), says(502), halved, stalled, says(429))
	tries := 0
	ended, err := b.through(
		client.WithRetryFor(0), client.WithTryTimeout(time.Second), client.WithHold(time.Second),
		client.WithOnRetry(func(client.Attempted) { tries++ }),
	).Wait(b.ctx, job.ID)
	require.NoError(t, err)
	require.Equal(t, client.Succeeded, ended.State)
	require.Equal(t, 7, tries)
}

func TestWait_ServerThatIsStoppedAndStarted(t *testing.T) {
	t.Parallel()
	first := serve(t, "127.0.0.1:0")
	c := newClient(t, "http://"+first.Addr(), "dev-key", client.WithRetryFor(0))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	job, err := c.Submit(ctx, client.Request{Route: "print", Input: page("hang")})
	require.NoError(t, err)
	away := make(chan struct{}, 1)
	watching := newClient(t, "http://"+first.Addr(), "dev-key", client.WithOnRetry(func(client.Attempted) {
		select {
		case away <- struct{}{}:
		default:
		}
	}))
	waited := make(chan error, 1)
	go func() {
		_, err := watching.Wait(ctx, job.ID)
		waited <- err
	}()
	require.NoError(t, first.Close())
	<-away
	second := serve(t, first.Addr()) // with an empty store: the job is gone with the first
	defer func() { require.NoError(t, second.Close()) }()
	require.ErrorIs(t, <-waited, client.ErrNotFound)
}

func TestWait_WhatIsNotThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.direct.Wait(b.ctx, "job_0")
	require.ErrorIs(t, err, client.ErrNotFound)
	_, err = b.clientOf(b.proxy.url, "nobody").Wait(b.ctx, "job_0")
	require.ErrorIs(t, err, client.ErrUnauthorized)
	for _, id := range []string{"", "../healthz", "job_1/events", "job_1?x"} {
		_, err = b.direct.Get(b.ctx, id)
		require.ErrorContains(t, err, "not the id of a job", id)
		require.NotErrorIs(t, err, client.ErrNotFound)
	}
}
