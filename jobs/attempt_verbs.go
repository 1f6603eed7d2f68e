package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"onejob/lua"
)

// Beat extends the lease of a running attempt; false when it is revoked, or
// past its deadline. sentAgo is the time since the call left; 0: it has not.
func (s *Store) Beat(ctx context.Context, c *Claim, sentAgo time.Duration) (bool, error) {
	a, err := s.run(ctx, verb{script: lua.Beat, jobID: c.JobID, args: []any{
		c.Attempt, c.Token, s.options.Lease.Milliseconds(), ago(sentAgo),
	}})
	if err != nil {
		return false, err
	}
	return a.word == lua.Beating, nil
}

// Accept stores the provider's handle, whatever the attempt's state.
func (s *Store) Accept(ctx context.Context, c *Claim, handle, actor string) error {
	a, err := s.run(ctx, verb{script: lua.Accept, jobID: c.JobID, actor: actor, args: []any{c.Attempt, c.Token, handle}})
	if err == nil && a.word != lua.HandleSet {
		return &NotClaimed{Why: string(a.word), Detail: "the attempt is not this claim's any more"}
	}
	return err
}

// Suspicion says that nobody knows how an attempt ended.
type Suspicion struct {
	JobID    string
	Attempt  int
	Token    string // the claim's; empty: because lease or deadline has passed
	Reason   string // empty, without a token: told from what has passed
	Evidence json.RawMessage
	Effect   string
	SentAgo  time.Duration
	Actor    string
	Op       string
	Reminders
}

// Reminders ask to be reminded of an unknown attempt, counted from the suspicion;
// 0: not.
type Reminders struct {
	Lookup time.Duration // to look it up at the provider
	Settle time.Duration // to fail it: by then no answer can come (settles_after)
	Race   time.Duration // to race it with the next provider
}

// Suspect makes a running attempt unknown; false when it was not running, or
// its lease holds and the token is not its own.
func (s *Store) Suspect(ctx context.Context, u Suspicion) (bool, error) {
	if u.Op == "" {
		u.Op = NewOp()
	}
	a, err := s.run(ctx, verb{script: lua.Suspect, jobID: u.JobID, op: u.Op, actor: u.Actor, args: []any{
		u.Attempt, u.Token, u.Reason, storedEvidence(u.Evidence), u.Effect, ago(u.SentAgo),
		ago(u.Lookup), ago(u.Settle), ago(u.Race),
	}})
	if err != nil {
		return false, err
	}
	return a.word == lua.Suspected, nil
}

// Ending is how an attempt ended, as reported by whoever heard of it.
type Ending struct {
	JobID    string
	Attempt  int
	Fence    int64 // the claim's; 0: the attempt's own
	Evidence json.RawMessage
	Effect   string
	SentAgo  time.Duration
	Actor    string
	Op       string // the same for every repetition of this report
}

// Reported is what became of a report.
type Reported struct {
	Late   string // why it came too late; empty: it counted
	State  State  // of the job, now
	Wakes  []Wake
	SHA256 string // of what was reported
	Bytes  int
}

// Finalize offers a result for the job's slot: taken (I3) or late (I6).
func (s *Store) Finalize(ctx context.Context, e Ending, result, usage json.RawMessage) (Reported, error) {
	r := Reported{SHA256: sha256Hex(result), Bytes: len(result)}
	a, err := s.run(ctx, verb{script: lua.Finalize, jobID: e.JobID, op: e.op(), actor: e.Actor, args: []any{
		e.Attempt, fence(e.Fence), []byte(result), r.SHA256, r.Bytes, e.Effect, []byte(usage), storedEvidence(e.Evidence), ago(e.SentAgo),
	}})
	return r.with(a), err
}

// Failure is a definite no.
type Failure struct {
	Reason     string
	Message    string
	Retryable  bool
	RetryAfter time.Duration
	Policy     *Policy // of the route
}

// Fail reports a definite no; what follows is planned in the same script and
// is in Wakes.
func (s *Store) Fail(ctx context.Context, e Ending, f Failure) (Reported, error) {
	policy, err := json.Marshal(f.Policy)
	if err != nil {
		return Reported{}, fmt.Errorf("writing the policy of job %s: %w", e.JobID, err)
	}
	said := []byte(f.Reason + ": " + f.Message)
	r := Reported{SHA256: sha256Hex(said), Bytes: len(said)}
	retryable := 0
	if f.Retryable {
		retryable = 1
	}
	a, err := s.run(ctx, verb{script: lua.Fail, jobID: e.JobID, op: e.op(), actor: e.Actor, args: []any{
		e.Attempt, fence(e.Fence), f.Reason, f.Message, retryable, f.RetryAfter.Milliseconds(),
		e.Effect, storedEvidence(e.Evidence), ago(e.SentAgo), policy, r.SHA256, r.Bytes,
	}})
	return r.with(a), err
}

func (r Reported) with(a *answer) Reported {
	if a == nil {
		return r
	}
	if a.word == lua.Late {
		r.Late = a.detail
	}
	r.State, r.Wakes = a.state, a.wakes()
	return r
}

func (e Ending) op() string {
	if e.Op == "" {
		return NewOp()
	}
	return e.Op
}

// ago writes a duration for a script: milliseconds, empty for none.
func ago(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return fmt.Sprint(max(1, d.Milliseconds()))
}

func fence(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
