package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// Decision is what a person, or an operator's tool, asks of a job.
type Decision struct {
	JobID         string
	Attempt       int    // where one is meant
	Actor         string // who decides, for the trail
	Reason        string // why, for the trail
	ExpectVersion int64  // refuse when the job has moved on; 0: whatever it is
	Op            string // id of this operation; made when empty
}

// Changed is a job after a decision, and what is to be woken.
type Changed struct {
	Job   *Job
	Wakes []Wake
}

// OpenRequest asks for a new attempt.
type OpenRequest struct {
	Decision
	Provider string // empty: the latest attempt's
	// Margin refuses, with CodeExpiring, when the record expires sooner than that.
	Margin time.Duration
}

// Open starts a new attempt because a person asks. A Refusal says CodeAttemptOpen
// while another is not settled (I4), CodeJobFinal, or CodeVersion.
func (s *Store) Open(ctx context.Context, r OpenRequest) (Changed, error) {
	return s.decide(ctx, lua.Open, r.Decision, expect(r.Decision), r.Provider, r.Reason, r.Margin.Milliseconds())
}

// CancelJob ends a job that has not ended; else a Refusal with CodeJobFinal.
func (s *Store) CancelJob(ctx context.Context, d Decision) (Changed, error) {
	return s.decide(ctx, lua.Cancel, d, expect(d), d.Reason)
}

// Resolution is a person's decision about an attempt.
type Resolution struct {
	Decision
	Outcome string          // succeeded, failed or cancelled
	Result  json.RawMessage // with succeeded
	Then    string          // "continue": go on as after a retryable failure
	Policy  *Policy         // of the route; needed with Then
}

// Resolve settles an attempt by decision: succeeded and failed for an unknown
// one, cancelled for any that is open. Refusals: CodeNotUnknown,
// CodeAttemptTerminal, CodeNoAttempt, CodeVersion.
func (s *Store) Resolve(ctx context.Context, r Resolution) (Changed, error) {
	policy, err := json.Marshal(r.Policy)
	if err != nil {
		return Changed{}, fmt.Errorf("writing the policy of job %s: %w", r.JobID, err)
	}
	return s.decide(ctx, lua.Resolve, r.Decision, r.Attempt, r.Outcome, expect(r.Decision), r.Reason,
		[]byte(r.Result), sha256Hex(r.Result), len(r.Result), r.Then, policy)
}

func expect(d Decision) string {
	if d.ExpectVersion == 0 {
		return ""
	}
	return fmt.Sprint(d.ExpectVersion)
}

func (s *Store) decide(ctx context.Context, script *redis.Script, d Decision, args ...any) (Changed, error) {
	if d.Op == "" {
		d.Op = NewOp()
	}
	a, err := s.run(ctx, verb{script: script, jobID: d.JobID, op: d.Op, actor: d.Actor, args: args})
	if err != nil {
		return Changed{}, err
	}
	job, err := s.Get(ctx, d.JobID)
	if err != nil {
		return Changed{}, err
	}
	return Changed{Job: job, Wakes: a.wakes()}, nil
}
