package jobs_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// scribe brings one job into a state, the same way each time: ids, tokens and, where
// the clock is the test's, times.
type scribe struct {
	*bundle
	tick func() // lets a second pass, where the clock is the test's
	name string
	id   string
}

// recipes are the states a stored job can be in, by name. Some are one state with
// another past.
var recipes = map[string]func(s *scribe){
	"queued": func(s *scribe) { s.submits(nil) },
	"queued_with_everything": func(s *scribe) {
		s.submits(func(sub *jobs.Submission) {
			sub.Params, sub.Metadata = json.RawMessage(`{"copies":2}`), json.RawMessage(`{"order":"7"}`)
			sub.WebhookURL, sub.StartWithin = "https://shop.example/hook", time.Hour
			sub.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		})
	},
	"held":    func(s *scribe) { s.submits(nil); s.must(s.Hold(s.ctx, s.id, 1, "an operator archived the wake-up")) },
	"running": func(s *scribe) { s.submits(nil); s.claims(1) },
	"running_with_handle": func(s *scribe) {
		s.submits(nil)
		c := s.claims(1)
		beating, err := s.Beat(s.ctx, c, 300*time.Millisecond)
		s.must(err)
		require.True(s.t, beating)
		s.must(s.Accept(s.ctx, c, "job-at-provider", "worker"))
	},
	"unknown": func(s *scribe) { s.submits(nil); s.suspects(s.claims(1)) },
	"unknown_looked_up": func(s *scribe) {
		s.submits(nil)
		s.suspects(s.claims(1))
		s.must(s.Look(s.ctx, s.id, 1, "absent"))
		s.must(s.Note(s.ctx, s.id, 1, "cancel_asked", "the provider was asked"))
	},
	"succeeded": func(s *scribe) { s.submits(nil); s.wins(s.claims(1)) },
	"succeeded_with_a_whole_answer": func(s *scribe) {
		s.submits(nil)
		end := ending(s.claims(1))
		end.Op, end.SentAgo = "WIN1", time.Second
		end.Evidence = json.RawMessage(`{"sent_at":"2026-01-02T03:04:06.1Z","first_byte_at":"2026-01-02T03:04:06.2Z",` +
			`"last_byte_at":"2026-01-02T03:04:06.25Z","bytes_written":1025,"bytes_read":1051,"status":200,"complete":true,"request_id":"req_1"}`)
		_, err := s.Finalize(s.ctx, end, json.RawMessage(`{"by":1}`), json.RawMessage(`{"tokens":7}`))
		s.must(err)
	},
	"succeeded_though_unknown_for_a_while": func(s *scribe) {
		s.submits(nil)
		c := s.claims(1)
		s.suspects(c)
		s.wins(c)
	},
	"failed":        func(s *scribe) { s.submits(nil); s.fails(s.claims(1), false, both(1, 1)) },
	"retry_planned": func(s *scribe) { s.submits(nil); s.fails(s.claims(1), true, both(3, 2)) },
	"failed_over": func(s *scribe) {
		s.submits(nil)
		s.fails(s.claims(1), true, both(2, 1))
		s.fails(s.claims(2), true, both(2, 1))
	},
	"not_certified": func(s *scribe) {
		s.submits(nil)
		plan := both(2, 1)
		plan.Providers[1].Certificate = ""
		s.fails(s.claims(1), true, plan)
	},
	"reopened":       func(s *scribe) { s.submits(nil); s.fails(s.claims(1), false, both(1, 1)); s.opens() },
	"cancelled":      func(s *scribe) { s.submits(nil); s.cancels() },
	"cancelled_late": func(s *scribe) { s.submits(nil); c := s.claims(1); s.cancels(); s.wins(c) },
	"resolved_failed": func(s *scribe) {
		s.submits(nil)
		s.suspects(s.claims(1))
		s.resolves("failed")
	},
	"start_expired": func(s *scribe) {
		s.submits(func(sub *jobs.Submission) { sub.StartWithin = time.Millisecond })
		s.tick()
		require.Eventually(s.t, func() bool {
			s.must(s.ExpireStart(s.ctx, s.id, 1))
			return s.get(s.id).State == jobs.Failed
		}, time.Minute, time.Millisecond)
	},
	"racing": func(s *scribe) { s.races() },
	"race_won": func(s *scribe) {
		s.races()
		s.wins(s.claims(2))
	},
	"race_lost": func(s *scribe) {
		s.races()
		second := s.claims(2)
		s.wins(&jobs.Claim{JobID: s.id, Attempt: 1, Token: token(1), Fence: 1})
		s.wins(second) // late
	},
	"webhook_pending": func(s *scribe) { s.submits(withHook); s.wins(s.claims(1)) },
	"webhook_trying_again": func(s *scribe) {
		s.submits(withHook)
		s.wins(s.claims(1))
		s.tells(1, jobs.WebhookTried{Status: 500, Error: "it answered 500"})
	},
	"webhook_delivered": func(s *scribe) {
		s.submits(withHook)
		s.suspects(s.claims(1))
		s.tells(1, jobs.WebhookTried{Delivered: true, Status: 200})
		s.resolves("failed")
	},
	"webhook_gone": func(s *scribe) {
		s.submits(withHook)
		s.suspects(s.claims(1))
		s.tells(1, jobs.WebhookTried{Gone: true, Status: 410})
		s.resolves("failed")
	},
}

func withHook(sub *jobs.Submission) { sub.WebhookURL = "https://shop.example/hook" }

func token(attempt int) string { return fmt.Sprintf("TOKEN%d", attempt) }

// recordID is the id of the job of a recipe, always the same.
func recordID(name string) string {
	id := jobs.NewID("dev", name)
	return "job_01ARZ3NDEKTSV4RRFFQ69G5FAV" + id[len(id)-2:]
}

// both is a plan with two providers.
func both(most, tries int) *jobs.Policy {
	return &jobs.Policy{
		MaxAttempts: most, Tries: tries, Failover: "certified",
		Backoff:   jobs.Backoff{Initial: time.Second, Max: time.Minute},
		Providers: []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser", Certificate: "cert_1"}},
	}
}

func (s *scribe) must(err error) { s.t.Helper(); require.NoError(s.t, err) }

func (s *scribe) submits(change func(*jobs.Submission)) {
	s.t.Helper()
	sub := submission(s.name, `{"page":1}`)
	sub.ID, sub.Actor = s.id, "dev"
	if change != nil {
		change(&sub)
	}
	_, err := s.Submit(s.ctx, sub)
	s.must(err)
}

func (s *scribe) claims(attempt int) *jobs.Claim {
	s.t.Helper()
	s.tick()
	c, err := s.Claim(s.ctx, jobs.ClaimRequest{
		JobID: s.id, Attempt: attempt, Token: token(attempt), Provider: s.get(s.id).Provider, Deadline: time.Minute, Actor: "worker",
	})
	s.must(err)
	return c
}

func (s *scribe) suspects(c *jobs.Claim) {
	s.t.Helper()
	s.tick()
	suspected, err := s.Suspect(s.ctx, jobs.Suspicion{
		JobID: s.id, Attempt: c.Attempt, Token: c.Token, Reason: "timeout", Evidence: json.RawMessage(`{"bytes_written":64}`),
		SentAgo: 500 * time.Millisecond, Actor: "worker", Op: "SUSPECT",
		Reminders: jobs.Reminders{Lookup: 2 * time.Second, Settle: 15 * time.Minute, Race: 10 * time.Second},
	})
	s.must(err)
	require.True(s.t, suspected)
}

func (s *scribe) ending(c *jobs.Claim, op string) jobs.Ending {
	return jobs.Ending{
		JobID: s.id, Attempt: c.Attempt, Fence: c.Fence, Evidence: json.RawMessage(`{"status":200}`), Effect: "done",
		SentAgo: time.Second, Actor: "worker", Op: fmt.Sprint(op, c.Attempt),
	}
}

func (s *scribe) wins(c *jobs.Claim) {
	s.t.Helper()
	s.tick()
	_, err := s.Finalize(s.ctx, s.ending(c, "FINALIZE"), json.RawMessage(fmt.Sprintf(`{"by":%d}`, c.Attempt)), json.RawMessage(`{"pages":1}`))
	s.must(err)
}

func (s *scribe) fails(c *jobs.Claim, retryable bool, plan *jobs.Policy) {
	s.t.Helper()
	s.tick()
	e := s.ending(c, "FAIL")
	e.Effect = "none"
	_, err := s.Fail(s.ctx, e, jobs.Failure{Reason: "busy", Message: "come back", Retryable: retryable, Policy: plan})
	s.must(err)
}

func (s *scribe) decision(attempt int) jobs.Decision {
	return jobs.Decision{JobID: s.id, Attempt: attempt, Actor: "operator:1", Reason: "seen", Op: fmt.Sprint("DECIDE", s.get(s.id).Revision)}
}

func (s *scribe) opens() {
	s.t.Helper()
	s.tick()
	_, err := s.Open(s.ctx, jobs.OpenRequest{Decision: s.decision(0), Provider: "laser"})
	s.must(err)
}

func (s *scribe) cancels() {
	s.t.Helper()
	s.tick()
	_, err := s.CancelJob(s.ctx, s.decision(0))
	s.must(err)
}

func (s *scribe) resolves(outcome string) {
	s.t.Helper()
	s.tick()
	_, err := s.Resolve(s.ctx, jobs.Resolution{Decision: s.decision(1), Outcome: outcome, Policy: both(1, 1)})
	s.must(err)
}

func (s *scribe) races() {
	s.t.Helper()
	s.submits(nil)
	s.suspects(s.claims(1))
	s.tick()
	wakes, why, err := s.Race(s.ctx, s.id, 1, both(3, 1))
	s.must(err)
	require.Len(s.t, wakes, 1, why)
}

func (s *scribe) tells(n int, tried jobs.WebhookTried) {
	s.t.Helper()
	s.tick()
	try, err := s.TakeWebhook(s.ctx, s.id, n, "HOOK", time.Minute)
	s.must(err)
	require.Equal(s.t, 1, try)
	tried.JobID, tried.Number, tried.Token = s.id, n, "HOOK"
	_, err = s.ReportWebhook(s.ctx, tried)
	s.must(err)
}
