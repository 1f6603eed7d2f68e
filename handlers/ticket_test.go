package handlers_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/handlers"
	"onejob/jobs"
	"onejob/tasks"
)

// office is where tickets are handled: a store with one failed job.
type office struct {
	t       *testing.T
	ctx     context.Context
	store   *jobs.Store
	tickets handlers.Tickets
	woken   *wakes
	job     *jobs.Job

	mu      sync.Mutex
	answers map[string]int // of tickets that were run
}

func (o *office) observed(answer string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers[answer]++
}

type wakes struct {
	mu  sync.Mutex
	all []jobs.Wake
}

func (w *wakes) Wake(_ context.Context, wake jobs.Wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, wake)
}

func openOffice(t *testing.T, keep time.Duration) *office {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	store := jobs.NewStore(rdb, jobs.Options{KeepJob: keep})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		cancel()
		_ = store.Close()
		_ = rdb.Close()
	})
	o := &office{t: t, ctx: ctx, store: store, woken: &wakes{}, answers: map[string]int{}}
	o.tickets = handlers.Tickets{Store: store, Waker: o.woken, Log: slog.New(slog.DiscardHandler), Observe: o.observed}
	s, err := store.Submit(ctx, jobs.Submission{Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	o.job = s.Job
	o.fail(1)
	return o
}

func (o *office) fail(attempt int) {
	o.t.Helper()
	c, err := o.store.Claim(o.ctx, jobs.ClaimRequest{JobID: o.job.ID, Attempt: attempt, Token: jobs.NewOp(), Provider: "inkjet", Deadline: time.Minute})
	require.NoError(o.t, err)
	_, err = o.store.Fail(o.ctx, jobs.Ending{JobID: c.JobID, Attempt: attempt, Fence: c.Fence}, jobs.Failure{Reason: "busy", Policy: &jobs.Policy{}})
	require.NoError(o.t, err)
	o.job, err = o.store.Get(o.ctx, o.job.ID)
	require.NoError(o.t, err)
	require.Equal(o.t, jobs.Failed, o.job.State)
}

func (o *office) ticket() *asynq.Task {
	payload, err := json.Marshal(tasks.Ticket{JobID: o.job.ID, Version: o.job.Version, Summary: "failed"})
	require.NoError(o.t, err)
	return asynq.NewTask(tasks.TypeTicket, payload)
}

func (o *office) attempts() int {
	o.t.Helper()
	job, err := o.store.Get(o.ctx, o.job.ID)
	require.NoError(o.t, err)
	return len(job.Attempts)
}

// A ticket opens one attempt, however often and concurrently it is run.
func TestTickets_OneAttemptHoweverOftenItIsRun(t *testing.T) {
	t.Parallel()
	o := openOffice(t, time.Hour)
	ticket := o.ticket()
	errs := make([]error, 20)
	var running sync.WaitGroup
	for i := range errs {
		running.Go(func() { errs[i] = o.tickets.Handle(o.ctx, ticket) })
	}
	running.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, 2, o.attempts())
	require.Len(t, o.woken.all, 1)
	require.Equal(t, 2, o.woken.all[0].Attempt)
	require.Equal(t, 20, o.answers["opened"]+o.answers["version_mismatch"], "%v", o.answers)
	require.NotZero(t, o.answers["opened"])
}

// It is good for the failure it was made for, and no other.
func TestTickets_NotAfterTheJobMovedOn(t *testing.T) {
	t.Parallel()
	o := openOffice(t, time.Hour)
	old := o.ticket()
	require.NoError(t, o.tickets.Handle(o.ctx, old))
	o.fail(2)
	require.NoError(t, o.tickets.Handle(o.ctx, old))
	require.Equal(t, 2, o.attempts(), "an old ticket opened an attempt")
	require.NoError(t, o.tickets.Handle(o.ctx, o.ticket()))
	require.Equal(t, 3, o.attempts())
}

// In the last minute before the record's expiry it does nothing (design §4).
func TestTickets_NotInTheLastMinute(t *testing.T) {
	t.Parallel()
	o := openOffice(t, 50*time.Second)
	require.NoError(t, o.tickets.Handle(o.ctx, o.ticket()))
	require.Equal(t, 1, o.attempts())
	require.Empty(t, o.woken.all)
}

func TestTickets_OfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	o := openOffice(t, time.Hour)
	o.job.ID = jobs.NewID("dev", "another")
	require.NoError(t, o.tickets.Handle(o.ctx, o.ticket()))
	require.Empty(t, o.woken.all)
}

func TestTickets_PayloadsItCannotRead(t *testing.T) {
	t.Parallel()
	o := openOffice(t, time.Hour)
	for _, payload := range []string{``, `{}`, `{"job":"x"}`, `{"version":1}`, `nonsense`} {
		require.ErrorIs(t, o.tickets.Handle(o.ctx, asynq.NewTask(tasks.TypeTicket, []byte(payload))), asynq.SkipRetry)
	}
}
