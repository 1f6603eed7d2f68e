package handlers_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// waitedFor is a context that tells when somebody first waits for its end.
type waitedFor struct {
	context.Context
	waits chan struct{}
	once  sync.Once
}

func (c *waitedFor) Done() <-chan struct{} {
	c.once.Do(func() { close(c.waits) })
	return c.Context.Done()
}

// A drain lets calls finish.
func TestDrain_WaitsForCalls(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	id := b.submit("k")
	v := b.provider.next(t)
	require.Equal(t, 1, b.worker.InFlight())
	ctx := &waitedFor{Context: b.ctx, waits: make(chan struct{})}
	drained := make(chan error, 1)
	go func() { drained <- b.worker.Drain(ctx) }()
	select {
	case <-ctx.waits:
	case err := <-drained:
		require.FailNow(t, "the drain did not wait", "%v", err)
	}
	v.succeed(`"done"`)
	select {
	case err := <-drained:
		require.NoError(t, err)
	case <-time.After(patience):
		require.FailNow(t, "the drain did not end")
	}
	job := b.get(id)
	require.Equal(t, jobs.Succeeded, job.State)
	require.Empty(t, job.Attempts[0].Reason, "it was given up")
	require.Zero(t, b.worker.InFlight())
}

// What is left at its end is unknown, for nobody will be listening.
func TestDrain_MarksWhatIsLeft(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	id := b.submit("k")
	v := b.provider.next(t)
	over, cancel := context.WithCancel(b.ctx)
	cancel()
	require.NoError(t, b.worker.Drain(over))
	require.ErrorIs(t, v.ctx.Err(), context.Canceled)
	job := b.get(id)
	require.Equal(t, jobs.Unknown, job.State)
	require.Equal(t, "worker_stopped", job.Attempts[0].Reason)
	require.Zero(t, b.worker.InFlight())
}

// A worker that stops claims nothing: the wake-up is for somebody else.
func TestDrain_StoppedWorkersClaimNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	b.worker.Stop()
	id := b.submit("k")
	b.deliver(id, 1, "again")
	b.delivered("again")
	require.Equal(t, jobs.AttemptStarting, b.get(id).Attempts[0].State)
	require.Empty(t, b.provider.created())
}
