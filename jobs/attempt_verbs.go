package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"onejob/lua"
)

// Claim is the right to make the call of one attempt, once.
type Claim struct {
	JobID    string
	Attempt  int
	Token    string // the claim's own; made before the claim was sent
	Fence    int64  // the job's version at the claim
	Owner    string
	Route    string
	Provider string
	Try      int // 1 for the first attempt of this job at this provider
	Input    json.RawMessage
	Params   json.RawMessage
}

// ClaimRequest names the attempt to claim and the provider the caller serves.
type ClaimRequest struct {
	JobID    string
	Attempt  int
	Token    string
	Provider string
	Deadline time.Duration // how long the call will be listened to
	Actor    string
}

// NotClaimed says why there is nothing to do for this delivery.
type NotClaimed struct {
	Why    string // an answer of lua/claim.lua
	Detail string
}

func (n *NotClaimed) Error() string { return "not claimed: " + n.Why + " " + n.Detail }

// Claim takes a starting attempt (I2): whoever gets a Claim, and nobody else,
// makes the call. Else the error is a NotClaimed or a Refusal.
func (s *Store) Claim(ctx context.Context, r ClaimRequest) (*Claim, error) {
	a, err := s.run(ctx, verb{script: lua.Claim, jobID: r.JobID, op: r.Token, actor: r.Actor, args: []any{
		r.Attempt, r.Token, r.Deadline.Milliseconds(), s.options.Lease.Milliseconds(), r.Provider,
	}})
	if err != nil {
		return nil, err
	}
	if a.word != lua.Claimed {
		return nil, &NotClaimed{Why: string(a.word), Detail: a.detail}
	}
	if len(a.rest) != 6 {
		return nil, fmt.Errorf("claiming %s: %d fields answered, want 6", AttemptID(r.JobID, r.Attempt), len(a.rest))
	}
	return &Claim{
		JobID: r.JobID, Attempt: r.Attempt, Token: r.Token, Provider: r.Provider,
		Fence: num(a.rest[0]), Route: str(a.rest[1]), Owner: str(a.rest[2]), Try: int(num(a.rest[3])),
		Input: raw(str(a.rest[4])), Params: raw(str(a.rest[5])),
	}, nil
}

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
		return fmt.Errorf("attempt %s was claimed by another worker", AttemptID(c.JobID, c.Attempt))
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
	// LookupIn, SettleIn and RaceIn ask for a reminder; 0: none.
	LookupIn, SettleIn, RaceIn time.Duration
}

// Suspect makes a running attempt unknown; false when it was not running, or
// its lease holds and the token is not its own.
func (s *Store) Suspect(ctx context.Context, u Suspicion) (bool, error) {
	if u.Op == "" {
		u.Op = NewOp()
	}
	a, err := s.run(ctx, verb{script: lua.Suspect, jobID: u.JobID, op: u.Op, actor: u.Actor, args: []any{
		u.Attempt, u.Token, u.Reason, []byte(u.Evidence), u.Effect, ago(u.SentAgo),
		ago(u.LookupIn), ago(u.SettleIn), ago(u.RaceIn),
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
		e.Attempt, fence(e.Fence), []byte(result), r.SHA256, r.Bytes, e.Effect, []byte(usage), []byte(e.Evidence), ago(e.SentAgo),
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
		e.Effect, []byte(e.Evidence), ago(e.SentAgo), policy, r.SHA256, r.Bytes,
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
