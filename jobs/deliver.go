package jobs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// deliverer is the actor of what becomes of deliveries.
const deliverer = "webhooks"

// TakeWebhook takes the turn for the next try of a delivery, with a token made
// before: whoever gets it sends, nobody else does until lease has passed. try is 0
// when there is nothing to send: it is not due, another has the turn, the delivery
// has ended, or the job has gone.
func (s *Store) TakeWebhook(ctx context.Context, jobID string, n int, token string, lease time.Duration) (try int, err error) {
	a, err := s.run(ctx, verb{script: lua.HookTake, jobID: jobID, actor: deliverer, args: []any{n, token, lease.Milliseconds()}})
	if refused(err, CodeNotFound) || refused(err, CodeNoWebhook) {
		return 0, nil
	}
	if err != nil || a.word != lua.Taken {
		return 0, err
	}
	return int(num(a.detail)), nil
}

// WebhookTried is what came of one try of a delivery.
type WebhookTried struct {
	JobID      string
	Number     int
	Token      string        // of TakeWebhook
	Delivered  bool          // answered 2xx
	Gone       bool          // answered 410: no more of this job
	Status     int           // 0: there was no answer
	Error      string        // what went wrong, in our words
	RetryAfter time.Duration // not before that; 0: as the schedule has it
	Slow       bool          // the receiver is overloaded: wait twice as long
}

// WebhookPlanned is what follows a try.
type WebhookPlanned struct {
	State WebhookState  // empty: the report did not count, for another has the turn or the delivery has ended
	Next  time.Duration // to the next try, while pending
}

// ReportWebhook records what came of a try, and what follows it. A job that has
// gone meanwhile is no error.
func (s *Store) ReportWebhook(ctx context.Context, t WebhookTried) (WebhookPlanned, error) {
	outcome := "failed"
	switch {
	case t.Delivered:
		outcome = "delivered"
	case t.Gone:
		outcome = "gone"
	}
	a, err := s.run(ctx, verb{script: lua.HookDone, jobID: t.JobID, actor: deliverer, args: []any{
		t.Number, t.Token, outcome, statusText(t.Status), t.Error, t.RetryAfter.Milliseconds(), boolArg(t.Slow),
	}})
	if refused(err, CodeNotFound) || refused(err, CodeNoWebhook) {
		return WebhookPlanned{}, nil
	}
	if err != nil || a.word == lua.NotPending || a.word == lua.NotTaken {
		return WebhookPlanned{}, err
	}
	return WebhookPlanned{State: WebhookState(a.word), Next: time.Duration(num(a.detail)) * time.Millisecond}, nil
}

func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status)
}

// redeliverMargin keeps a delivery from being begun that its record would not
// outlive.
const redeliverMargin = 10 * time.Second

// Redeliver has delivery n of a job tried again from the start of the schedule,
// under its old id: also one that was delivered, and also where the receiver has
// answered 410. Refusals: CodeNoWebhook, CodeVersion, CodeExpiring, CodeNotFound.
func (s *Store) Redeliver(ctx context.Context, d Decision, n int) (Changed, error) {
	return s.decide(ctx, lua.Redeliver, d, n, expect(d), d.Reason, redeliverMargin.Milliseconds())
}

// PendingWebhooks counts the deliveries that wait for a try, of all jobs.
func (s *Store) PendingWebhooks(ctx context.Context) (int64, error) {
	pipe := s.rdb.Pipeline()
	counts := make([]*redis.IntCmd, Partitions)
	for p := range partition(Partitions) {
		counts[p] = pipe.ZCard(ctx, p.webhooks())
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("counting pending webhooks: %w", err)
	}
	var pending int64
	for _, count := range counts {
		pending += count.Val()
	}
	return pending, nil
}
