package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/providers"
	"onejob/tasks"
)

func TestWorker_OneDeliveryOneCall(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	id := b.submit("k")
	v := b.provider.next(t)
	require.Equal(t, jobs.AttemptID(id, 1), v.call.AttemptID)
	require.JSONEq(t, `{"page":1}`, string(v.call.Input))
	require.Equal(t, 1, v.call.Try)
	require.Equal(t, jobs.Running, b.get(id).State)
	v.succeed(`"done"`)
	require.Empty(t, b.end().Late)
	require.Equal(t, jobs.Succeeded, b.get(id).State)
}

// Redelivery, whatever its cause, repeats no call: many wake-ups of one attempt
// at the same time, then while it runs, then after it ended (I2).
func TestWorker_ManyDeliveriesOneCall(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	s, err := b.store.Submit(b.ctx, jobs.Submission{
		Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`),
	})
	require.NoError(t, err)
	id := s.Job.ID
	for i := range 8 {
		b.deliver(id, 1, fmt.Sprint("at-once-", i))
	}
	v := b.provider.next(t)
	for i := range 8 {
		b.deliver(id, 1, fmt.Sprint("meanwhile-", i))
	}
	for i := range 8 {
		b.delivered(fmt.Sprint("meanwhile-", i))
	}
	v.succeed(`"done"`)
	b.untilState(id, jobs.Succeeded)
	b.deliver(id, 1, "after")
	b.delivered("after")
	// "Run now" on a completed task is an ordinary delivery.
	require.NoError(t, asynq.NewInspectorFromRedisClient(b.rdb).RunTask("inkjet", "after"))
	b.delivered("after")
	require.Equal(t, map[string]int{jobs.AttemptID(id, 1): 1}, b.provider.created())
}

// asynq gives a task it was told to cancel to somebody else while the first
// handler still runs: cancel, then "run now" [asynq 532].
func TestWorker_CancelAndRunNow(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	id := b.submit("k")
	v := b.provider.next(t)
	inspector := asynq.NewInspectorFromRedisClient(b.rdb)
	task := jobs.AttemptID(id, 1)
	require.NoError(t, inspector.CancelProcessing(task))
	require.Eventually(t, func() bool { return inspector.RunTask("inkjet", task) == nil }, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		info, err := inspector.GetTaskInfo("inkjet", task)
		return err != nil || info.State == asynq.TaskStateCompleted
	}, patience, 10*time.Millisecond, "the second delivery was not handled")
	require.NoError(t, v.ctx.Err(), "asynq's cancel reached the call")
	v.succeed(`"done"`)
	b.untilState(id, jobs.Succeeded)
	require.Equal(t, map[string]int{task: 1}, b.provider.created())
}

// A worker paused longer than its lease does not call [redislock 93].
func TestWorker_DoesNotCallAfterItsLease(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{lease: 100 * time.Millisecond, beat: time.Minute})
	b.provider.before = func(call *providers.Call) { <-time.After(time.Until(call.NotAfter)) }
	id := b.submit("k")
	e := b.end()
	require.Equal(t, providers.ReasonNotSent, e.Reason)
	require.Empty(t, e.Late)
	job := b.get(id)
	require.Equal(t, jobs.Failed, job.State)
	require.Equal(t, "none", job.Attempts[0].Effect)
	require.Empty(t, b.provider.created())
}

// One whose attempt was given up before the call left does not call either, as
// soon as a beat has told.
func TestWorker_DoesNotCallOnceRevoked(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{beat: 10 * time.Millisecond})
	waiting, leave := make(chan struct{}), make(chan struct{})
	b.provider.before = func(*providers.Call) { close(waiting); <-leave }
	id := b.submit("k")
	<-waiting
	_, err := b.store.CancelJob(b.ctx, jobs.Decision{JobID: id})
	require.NoError(t, err)
	beats := b.redis.CommandCount()
	require.Eventually(t, func() bool { return b.redis.CommandCount() > beats+200 }, patience, 5*time.Millisecond)
	close(leave)
	e := b.end()
	require.Equal(t, providers.ReasonNotSent, e.Reason)
	require.Equal(t, "attempt_cancelled", e.Late)
	require.Empty(t, b.provider.created())
}

// Beats keep a call alive that takes longer than its lease.
func TestWorker_BeatsExtendTheLease(t *testing.T) {
	t.Parallel()
	const lease = 1500 * time.Millisecond
	b := setup(t, settings{lease: lease, beat: 20 * time.Millisecond})
	id := b.submit("k")
	v := b.provider.next(t)
	first := b.get(id).Attempts[0].Lease
	require.Eventually(t, func() bool {
		suspected, err := b.store.Suspect(b.ctx, jobs.Suspicion{JobID: id, Attempt: 1, Actor: "sweeper"})
		require.NoError(t, err)
		require.False(t, suspected, "the lease lapsed although it was beaten")
		return b.get(id).Attempts[0].Lease.Go().Sub(first.Go()) > 3*lease
	}, patience, 10*time.Millisecond)
	require.NotZero(t, b.get(id).Attempts[0].SentAt, "the beat did not tell that the call left")
	v.succeed(`"done"`)
	b.untilState(id, jobs.Succeeded)
}

// Silence makes the attempt unknown; the call is listened to, and settles it.
func TestWorker_SilenceIsUnknownAndStillListenedTo(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{timeout: 50 * time.Millisecond})
	id := b.submit("k")
	v := b.provider.next(t)
	unknown := b.untilState(id, jobs.Unknown)
	require.Equal(t, providers.ReasonTimeout, unknown.Attempts[0].Reason)
	require.NotEmpty(t, unknown.Attempts[0].Evidence)
	require.NotZero(t, unknown.Attempts[0].SentAt)
	require.NoError(t, v.ctx.Err(), "nobody listens any more")
	v.succeed(`"late, but entitled"`)
	require.Empty(t, b.end().Late)
	require.Equal(t, jobs.Succeeded, b.get(id).State)
}

// Every byte breaks the silence.
func TestWorker_BytesBreakTheSilence(t *testing.T) {
	t.Parallel()
	const timeout = 500 * time.Millisecond
	b := setup(t, settings{timeout: timeout})
	id := b.submit("k")
	v := b.provider.next(t)
	started := time.Now()
	require.Eventually(t, func() bool {
		v.call.Wire.Read(1)
		require.Equal(t, jobs.Running, b.get(id).State)
		return time.Since(started) > 3*timeout
	}, patience, 10*time.Millisecond)
	b.untilState(id, jobs.Unknown)
	v.succeed(`"done"`)
}

// A call of which the connection took no byte is not silent: it has not begun.
func TestWorker_AnUnwrittenCallIsNotSilent(t *testing.T) {
	t.Parallel()
	const timeout = 400 * time.Millisecond
	b := setup(t, settings{timeout: timeout})
	b.provider.before = func(call *providers.Call) {
		if call.Wire.Leaving() == nil {
			call.Wire.Unwritten()
		}
		<-time.After(4 * timeout)
	}
	id := b.submit("k")
	v := b.provider.next(t)
	trail, err := b.store.Events(b.ctx, id, "", 100)
	require.NoError(t, err)
	for _, e := range trail {
		require.NotEqual(t, "suspect", e.Verb)
	}
	v.succeed(`"done"`)
}

// The deadline ends the listening; what nobody heard is unknown, never failed.
func TestWorker_TheDeadlineEndsTheListening(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{timeout: 50 * time.Millisecond, deadline: 150 * time.Millisecond})
	id := b.submit("k")
	v := b.provider.next(t)
	b.end()
	require.ErrorIs(t, v.ctx.Err(), context.DeadlineExceeded)
	require.Equal(t, jobs.Unknown, b.get(id).State)
}

// A revoked call is still listened to, so that what comes is recorded.
func TestWorker_ARevokedCallIsRecordedLate(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{beat: 10 * time.Millisecond})
	id := b.submit("k")
	v := b.provider.next(t)
	_, err := b.store.CancelJob(b.ctx, jobs.Decision{JobID: id})
	require.NoError(t, err)
	beats := b.redis.CommandCount()
	require.Eventually(t, func() bool { return b.redis.CommandCount() > beats+200 }, patience, 5*time.Millisecond)
	require.NoError(t, v.ctx.Err())
	v.succeed(`"late"`)
	require.Equal(t, "attempt_cancelled", b.end().Late)
	job := b.get(id)
	require.Equal(t, jobs.Cancelled, job.State)
	require.Empty(t, job.Result)
	require.EqualValues(t, len(`"late"`), job.Attempts[0].LateResult.Bytes)
	require.Equal(t, 1, b.log.Count("late result discarded"), "it is logged (I6)")
	require.Contains(t, b.log.String(), job.Attempts[0].LateResult.SHA256)
}

// An answer that arrives while Redis is away is kept, and reported when it is back.
func TestWorker_AnAnswerWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	id := b.submit("k")
	v := b.provider.next(t)
	var away atomic.Bool
	var refused atomic.Int64
	b.redis.Server().SetPreHook(func(peer *server.Peer, _ string, args ...string) bool {
		if away.Load() {
			if strings.Contains(strings.Join(args, " "), "oj:{") {
				refused.Add(1) // a report of the worker's
			}
			peer.WriteError("LOADING Redis is loading the dataset in memory")
		}
		return away.Load()
	})
	away.Store(true)
	v.succeed(`"kept"`)
	require.Eventually(t, func() bool { return refused.Load() >= 2 }, patience, 5*time.Millisecond)
	require.Empty(t, b.ended, "the outcome was let go of")
	away.Store(false)
	require.Empty(t, b.end().Late)
	job := b.get(id)
	require.Equal(t, jobs.Succeeded, job.State)
	require.Equal(t, `"kept"`, string(job.Result))
	require.Nil(t, job.Attempts[0].LateResult)
}

// A provider type that panics leaves an unknown behind once its call has left,
// and a definite failure before.
func TestWorker_AProviderThatPanics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*providers.Call)
		state  jobs.State
	}{
		"before": {func(*providers.Call) { panic("bug") }, jobs.Failed},
		"after": {func(call *providers.Call) {
			if call.Wire.Leaving() == nil {
				call.Wire.Wrote(1)
			}
			panic("bug")
		}, jobs.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, settings{})
			b.provider.before = c.before
			id := b.submit("k")
			b.end()
			require.Equal(t, c.state, b.get(id).State)
		})
	}
}

// A definite no is followed by the planned attempt, which is woken.
func TestWorker_ARefusalIsFollowedByTheNextTry(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{policy: func(string) *jobs.Policy {
		return &jobs.Policy{
			MaxAttempts: 2, Tries: 2, Failover: "certified", Providers: []jobs.PolicyProvider{{Name: "inkjet"}},
			Backoff: jobs.Backoff{Initial: time.Millisecond, Max: time.Millisecond},
		}
	}})
	id := b.submit("k")
	b.provider.next(t).answer <- providers.Outcome{Kind: providers.Failed, Reason: providers.ReasonBusy, Retryable: true}
	second := b.provider.next(t)
	require.Equal(t, jobs.AttemptID(id, 2), second.call.AttemptID)
	require.Equal(t, 2, second.call.Try)
	second.succeed(`"done"`)
	require.Equal(t, 2, b.untilState(id, jobs.Succeeded).CompletedBy)
	require.Equal(t, map[string]int{jobs.AttemptID(id, 1): 1, jobs.AttemptID(id, 2): 1}, b.provider.created())
}

// Where the route has left the configuration, nothing follows a failure.
func TestWorker_ARouteThatIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{policy: func(string) *jobs.Policy { return nil }})
	id := b.submit("k")
	b.provider.next(t).answer <- providers.Outcome{Kind: providers.Failed, Reason: providers.ReasonBusy, Retryable: true}
	require.Len(t, b.untilState(id, jobs.Failed).Attempts, 1)
}

func TestWorker_PayloadsItCannotRead(t *testing.T) {
	t.Parallel()
	b := setup(t, settings{})
	for _, payload := range []string{``, `{}`, `{"job":"x"}`, `{"job":"x","attempt":0}`, `nonsense`} {
		err := b.worker.Handle(b.ctx, asynq.NewTask(tasks.TypeWake, []byte(payload)))
		require.ErrorIs(t, err, asynq.SkipRetry, "%q", payload)
	}
}
