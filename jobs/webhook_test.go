package jobs_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/jobs/recordtest"
	"onejob/redistest"
)

const (
	hookURL   = "https://receiver.example/hook"
	hookLease = 30 * time.Second
)

// submitWithHook submits a job that is to tell a webhook.
func (b *bundle) submitWithHook(key string) *jobs.Job {
	b.t.Helper()
	sub := submission(key, `{"page":1}`)
	sub.WebhookURL = hookURL
	s, err := b.Submit(b.ctx, sub)
	require.NoError(b.t, err)
	return s.Job
}

// won is a job that has succeeded, and so one delivery that is pending.
func (b *bundle) won(key string) *jobs.Job {
	b.t.Helper()
	job := b.submitWithHook(key)
	b.finalize(b.claim(job.ID, 1), `{"sheet":1}`)
	return b.get(job.ID)
}

func (b *bundle) take(id string, n int) (token string, try int) {
	b.t.Helper()
	token = jobs.NewOp()
	try, err := b.TakeWebhook(b.ctx, id, n, token, hookLease)
	require.NoError(b.t, err)
	return token, try
}

func (b *bundle) tried(t jobs.WebhookTried) jobs.WebhookPlanned {
	b.t.Helper()
	planned, err := b.ReportWebhook(b.ctx, t)
	require.NoError(b.t, err)
	return planned
}

// pass lets the wait of a delivery be over.
func (b *bundle) pass(id string, n int) {
	b.t.Helper()
	keys := prefixOf(id)
	name := "h" + strconv.Itoa(n)
	require.NoError(b.t, recordtest.Set(b.ctx, b.rdb, keys+"job:"+id, map[string]any{name + ".next": 1, name + ".lease": 1}))
	require.NoError(b.t, b.rdb.ZAdd(b.ctx, keys+"due", redis.Z{Score: 1, Member: "webhook:" + id + ":" + name}).Err())
}

// agree wants indexes, due set and records to agree (I11).
func (b *bundle) agree(id string) {
	b.t.Helper()
	found, err := b.Mend(b.ctx, id, false)
	require.NoError(b.t, err)
	require.Empty(b.t, found)
}

func (b *bundle) pending() int64 {
	b.t.Helper()
	n, err := b.PendingWebhooks(b.ctx)
	require.NoError(b.t, err)
	return n
}

// Every state that a webhook is told of is a delivery of its own, in order, made by
// the very script that changes the state; the others make none.
func TestWebhook_OneDeliveryPerEvent(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submitWithHook("k")
		require.Empty(t, job.Webhooks)
		c := b.claim(job.ID, 1)
		require.Empty(t, b.get(job.ID).Webhooks, "running is nothing to tell of")
		b.suspect(c)
		b.finalize(c, `{"sheet":1}`)
		done := b.get(job.ID)
		require.Len(t, done.Webhooks, 2)
		for i, event := range []string{"job.unknown", "job.succeeded"} {
			w := done.Webhooks[i]
			require.Equal(t, event, w.Event)
			require.Equal(t, i+1, w.Number)
			require.Equal(t, jobs.WebhookPending, w.State)
			require.Regexp(t, "^"+job.ID+"-h"+strconv.Itoa(i+1)+"-[0-9a-z]+$", w.ID)
			require.Zero(t, w.Tries)
			require.Equal(t, w.At, w.NextAt, "the first try is due at once")
		}
		require.EqualValues(t, 2, b.pending())
		b.agree(job.ID)

		failed := b.submitWithHook("failed")
		b.fail(b.claim(failed.ID, 1), 1)
		_, err := b.Open(b.ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: failed.ID, Actor: "dev"}})
		require.NoError(t, err)
		_, err = b.CancelJob(b.ctx, jobs.Decision{JobID: failed.ID, Actor: "dev"})
		require.NoError(t, err)
		require.Equal(t, []string{"job.failed", "job.cancelled"}, events(b.get(failed.ID)))

		quiet := b.submit("no webhook")
		b.finalize(b.claim(quiet.ID, 1), `{}`)
		require.Empty(t, b.get(quiet.ID).Webhooks)
	})
}

func events(job *jobs.Job) []string {
	var events []string
	for _, w := range job.Webhooks {
		events = append(events, w.Event)
	}
	return events
}

// The schedule of Standard Webhooks, to the end, under one id.
func TestWebhook_Schedule(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		b.Store = jobs.NewStore(rdb, jobs.Options{KeepJob: 1000 * time.Hour})
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		job := b.won("k")
		id := job.Webhooks[0].ID
		updated := job.UpdatedAt
		waits := []time.Duration{
			5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
			20 * time.Hour, 24 * time.Hour,
		}
		for i, wait := range waits {
			token, try := b.take(job.ID, 1)
			require.Equal(t, i+1, try)
			planned := b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 500, Error: "answered 500"})
			require.Equal(t, jobs.WebhookPlanned{State: jobs.WebhookPending, Next: wait}, planned, "after try %d", try)
			_, early := b.take(job.ID, 1)
			require.Zero(t, early, "it is not due yet")
			b.agree(job.ID)
			b.pass(job.ID, 1)
		}
		token, try := b.take(job.ID, 1)
		require.Equal(t, 10, try)
		planned := b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Error: "timed out"})
		require.Equal(t, jobs.WebhookPlanned{State: jobs.WebhookExhausted}, planned)

		w := b.get(job.ID).Webhooks[0]
		require.Equal(t, id, w.ID)
		require.Equal(t, jobs.WebhookExhausted, w.State)
		require.Equal(t, 10, w.Tries)
		require.Equal(t, "timed out", w.LastError)
		require.Zero(t, w.LastStatus)
		require.Zero(t, w.NextAt)
		require.Zero(t, b.pending())
		require.Equal(t, updated, b.get(job.ID).UpdatedAt, "its books are no change of the job")
		require.Len(t, b.trail(job.ID, "webhook"), 10, "each try is a line in the trail")
		b.agree(job.ID)
		b.pass(job.ID, 1)
		_, try = b.take(job.ID, 1)
		require.Zero(t, try, "no try after the last")
	})
}

func (b *bundle) trail(id, verb string) []string {
	b.t.Helper()
	all, err := b.Events(b.ctx, id, "", 1000)
	require.NoError(b.t, err)
	var lines []string
	for _, e := range all {
		if e.Verb == verb {
			lines = append(lines, e.Reason)
		}
	}
	return lines
}

// What a receiver says decides when it is asked again.
func TestWebhook_Answers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tried jobs.WebhookTried
		want  jobs.WebhookPlanned
	}{
		"delivered":         {jobs.WebhookTried{Delivered: true, Status: 204}, jobs.WebhookPlanned{State: jobs.WebhookDelivered}},
		"gone":              {jobs.WebhookTried{Gone: true, Status: 410, Error: "answered 410"}, jobs.WebhookPlanned{State: jobs.WebhookDisabled}},
		"failed":            {jobs.WebhookTried{Status: 500}, jobs.WebhookPlanned{State: jobs.WebhookPending, Next: 5 * time.Second}},
		"overloaded":        {jobs.WebhookTried{Status: 502, Slow: true}, jobs.WebhookPlanned{State: jobs.WebhookPending, Next: 10 * time.Second}},
		"asks for a minute": {jobs.WebhookTried{Status: 429, Slow: true, RetryAfter: time.Minute}, jobs.WebhookPlanned{State: jobs.WebhookPending, Next: time.Minute}},
		"asks for less":     {jobs.WebhookTried{Status: 503, RetryAfter: time.Second}, jobs.WebhookPlanned{State: jobs.WebhookPending, Next: 5 * time.Second}},
		"asks for more than the record lives": {
			jobs.WebhookTried{Status: 503, RetryAfter: 100 * time.Hour}, jobs.WebhookPlanned{State: jobs.WebhookExhausted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				b := setup(t, rdb)
				job := b.won("k")
				token, try := b.take(job.ID, 1)
				require.Equal(t, 1, try)
				c.tried.JobID, c.tried.Number, c.tried.Token = job.ID, 1, token
				require.Equal(t, c.want, b.tried(c.tried))
				b.agree(job.ID)
				w := b.get(job.ID).Webhooks[0]
				require.Equal(t, c.want.State, w.State)
				require.Equal(t, c.tried.Status, w.LastStatus)
				require.Equal(t, c.tried.Delivered, !w.DeliveredAt.IsZero())
			})
		})
	}
}

// Of many workers one sends; a worker that dies is followed by another once its
// lease has passed, and what it says then counts only if it was received.
func TestWebhook_OneSendsAtATime(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.won("k")
		first, try := b.take(job.ID, 1)
		require.Equal(t, 1, try)
		_, other := b.take(job.ID, 1)
		require.Zero(t, other, "the first has the turn")
		again, err := b.TakeWebhook(b.ctx, job.ID, 1, first, hookLease)
		require.NoError(t, err)
		require.Equal(t, 1, again, "the same command, sent again after its reply was lost")

		b.pass(job.ID, 1) // the first died
		second, try := b.take(job.ID, 1)
		require.Equal(t, 2, try)
		require.Equal(t, []string{"h1 job.succeeded try 1: worker_lost"}, b.trail(job.ID, "webhook"))
		late := b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: first, Status: 500})
		require.Empty(t, late.State, "another has the turn")
		require.Equal(t, jobs.WebhookDelivered,
			b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: first, Status: 200, Delivered: true}).State)
		require.Empty(t, b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: second, Status: 500}).State,
			"what was received stays so")
		require.Equal(t, jobs.WebhookDelivered, b.get(job.ID).Webhooks[0].State)
		b.agree(job.ID)
	})
}

// Who answers 410 is told no more of this job, neither what waits nor what comes.
func TestWebhook_Gone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submitWithHook("k")
		c := b.claim(job.ID, 1)
		b.suspect(c)
		b.fail(c, 1)
		token, _ := b.take(job.ID, 1)
		b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Gone: true, Status: 410})
		_, err := b.Open(b.ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: job.ID, Actor: "dev"}})
		require.NoError(t, err)
		b.fail(b.claim(job.ID, 2), 1)
		for _, w := range b.get(job.ID).Webhooks {
			require.Equal(t, jobs.WebhookDisabled, w.State, w.Event)
		}
		require.Zero(t, b.pending())
		b.agree(job.ID)

		_, err = b.Redeliver(b.ctx, jobs.Decision{JobID: job.ID, Actor: "dev"}, 3)
		require.NoError(t, err, "a person may know that it is back")
		_, try := b.take(job.ID, 3)
		require.Equal(t, 1, try)
		_, err = b.Open(b.ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: job.ID, Actor: "dev"}})
		require.NoError(t, err)
		b.finalize(b.claim(job.ID, 3), `{}`)
		require.Equal(t, jobs.WebhookPending, b.get(job.ID).Webhooks[3].State, "and it is told of what comes")
	})
}

func TestWebhook_Redeliver(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.won("k")
		before := job.Webhooks[0]
		token, _ := b.take(job.ID, 1)
		b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 200, Delivered: true})

		d := jobs.Decision{JobID: job.ID, Actor: "operator:ops", Reason: "they lost it", Op: jobs.NewOp()}
		for range 2 { // the second is the same command, sent again
			changed, err := b.Redeliver(b.ctx, d, 1)
			require.NoError(t, err)
			w := changed.Job.Webhooks[0]
			require.Equal(t, before.ID, w.ID, "the receiver dedupes by it")
			require.Equal(t, jobs.WebhookPending, w.State)
			require.Zero(t, w.Tries)
			require.Zero(t, w.DeliveredAt)
		}
		require.Equal(t, []string{"h1 job.succeeded: they lost it"}, b.trail(job.ID, "redeliver"))
		b.agree(job.ID)
		token, try := b.take(job.ID, 1)
		require.Equal(t, 1, try)

		d.Op = jobs.NewOp() // while a try is under way
		_, err := b.Redeliver(b.ctx, d, 1)
		require.NoError(t, err)
		_, other := b.take(job.ID, 1)
		require.Zero(t, other, "two never send at once")
		require.Equal(t, jobs.WebhookPlanned{State: jobs.WebhookPending}, b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 500}),
			"the schedule began anew: again at once")
		b.agree(job.ID)

		_, err = b.Redeliver(b.ctx, d, 2)
		require.ErrorIs(t, err, &jobs.Refusal{Code: jobs.CodeNoWebhook})
		d.ExpectVersion, d.Op = 99, jobs.NewOp()
		_, err = b.Redeliver(b.ctx, d, 1)
		require.ErrorIs(t, err, &jobs.Refusal{Code: jobs.CodeVersion})
		_, err = b.Redeliver(b.ctx, jobs.Decision{JobID: jobs.NewID("dev", "x"), Actor: "dev"}, 1)
		require.ErrorIs(t, err, &jobs.Refusal{Code: jobs.CodeNotFound})
	})
}

// A record is not kept longer for its webhook: the try that would come too late is
// made shortly before the end instead, and is the last.
func TestWebhook_LastTryComesBeforeTheExpiry(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		b.Store = jobs.NewStore(rdb, jobs.Options{KeepJob: 10 * time.Minute})
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		job := b.won("k")
		for _, wait := range []time.Duration{5 * time.Second, 5 * time.Minute} {
			token, _ := b.take(job.ID, 1)
			require.Equal(t, wait, b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 500}).Next)
			b.pass(job.ID, 1)
		}
		token, _ := b.take(job.ID, 1)
		planned := b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 500})
		require.Equal(t, jobs.WebhookPending, planned.State)
		require.InDelta(t, 9*time.Minute, planned.Next, float64(10*time.Second))
		require.Equal(t, job.ExpiresAt, b.get(job.ID).ExpiresAt)

		expiring := jobs.Time(time.Now().Add(30 * time.Second).UnixMilli())
		require.NoError(t, recordtest.Set(b.ctx, rdb, prefixOf(job.ID)+"job:"+job.ID, map[string]any{"expires": int64(expiring)}))
		b.pass(job.ID, 1)
		token, _ = b.take(job.ID, 1)
		require.Equal(t, jobs.WebhookExhausted, b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 500}).State)
	})
}

// The sweeper hands a delivery out when it is due, and drops what nobody needs.
func TestWebhook_IsHandedOut(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.won("k")
		mine := func() []jobs.Due {
			var found []jobs.Due
			for p := range jobs.Partitions {
				due, err := b.Take(b.ctx, p)
				require.NoError(t, err)
				for _, d := range due {
					if d.Kind == jobs.DueWebhook {
						found = append(found, d)
					}
				}
			}
			return found
		}
		due := mine()
		require.Len(t, due, 1)
		require.Equal(t, 1, due[0].Webhook())
		require.Equal(t, 1, due[0].Tries)
		require.Empty(t, mine(), "whoever was given it has the turn")
		b.pass(job.ID, 1)
		require.Equal(t, 2, mine()[0].Tries, "nobody has dealt with it")

		token, _ := b.take(job.ID, 1)
		b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 500})
		b.pass(job.ID, 1)
		require.Equal(t, 1, mine()[0].Tries, "counted anew for every try")
		require.NoError(t, b.Postpone(b.ctx, jobs.DueOfWebhook(job.ID, 1), 0))
		require.Len(t, mine(), 1)

		// The record expires with a delivery pending.
		b.pass(job.ID, 1)
		prefix := prefixOf(job.ID)
		require.NoError(t, rdb.Del(b.ctx, prefix+"job:"+job.ID).Err())
		require.Empty(t, mine())
		require.Zero(t, b.pending())
		_, try := b.take(job.ID, 1)
		require.Zero(t, try)
		require.Empty(t, b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token}).State)
	})
}

// fsck finds a delivery that nobody would make, and makes it due.
func TestWebhook_Mend(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.won("k")
		prefix, member := prefixOf(job.ID), "webhook:"+job.ID+":h1"
		require.NoError(t, rdb.ZRem(b.ctx, prefix+"due", member).Err())
		require.NoError(t, rdb.ZRem(b.ctx, prefix+"webhooks", member).Err())
		found, err := b.Mend(b.ctx, job.ID, true)
		require.NoError(t, err)
		require.Equal(t, []string{"nothing due for " + member, "not listed as pending: " + member}, found)
		b.agree(job.ID)
		token, _ := b.take(job.ID, 1)
		b.tried(jobs.WebhookTried{JobID: job.ID, Number: 1, Token: token, Status: 200, Delivered: true})
		require.NoError(t, rdb.ZAdd(b.ctx, prefix+"webhooks", redis.Z{Member: member}).Err())
		found, err = b.Mend(b.ctx, job.ID, true)
		require.NoError(t, err)
		require.Equal(t, []string{"listed as pending, is not: " + member}, found)
		b.agree(job.ID)
	})
}

// A store that lost the future numbers the next event like a lost one: its id must
// be another, or a receiver that had the lost one would drop it.
func TestWebhook_IDsAreNeverUsedTwice(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Mini(t))
	job := b.submitWithHook("k")
	c := b.claim(job.ID, 1)
	b.suspect(c)
	lost := b.get(job.ID).Webhooks[0].ID
	prefix := prefixOf(job.ID)
	// Back to before: no delivery was recorded.
	require.NoError(t, recordtest.Set(b.ctx, b.rdb, prefix+"job:"+job.ID, map[string]any{"hooks": 0}))
	require.Eventually(t, func() bool {
		now, err := b.Now(b.ctx)
		return err == nil && now.UnixMilli() > int64(b.get(job.ID).UpdatedAt)
	}, time.Minute, time.Millisecond)
	b.finalize(c, `{}`)
	require.NotEqual(t, lost, b.get(job.ID).Webhooks[0].ID)
}
