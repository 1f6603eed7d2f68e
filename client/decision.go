package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Decision is what a person says about a job, and on what ground.
//
// A decision is sent again only while the server was certainly not asked: no
// connection could be made, or it wants to be left alone for a while. After any
// other silence the error is an *UnknownError: read the job, and decide again if it
// is still to be decided.
type Decision struct {
	// Reason is why, for the job's trail: at most 500 characters. CancelAttempt and
	// Resolve need one.
	Reason string
	// ExpectVersion binds the decision to the Job.Version it is made on: if another
	// was made since, it is refused with ErrVersion. 0 means any.
	ExpectVersion int64
}

// Cancel ends the job and every open attempt. A call that has left may still have
// its effect; what comes of it is recorded, not applied. ErrFinal when it was over.
func (c *Client) Cancel(ctx context.Context, id string, d Decision) (*Job, error) {
	return c.decide(ctx, "cancel", id, "/cancel", d, map[string]any{})
}

// CancelAttempt shuts an attempt out; whoever does it accepts that its call may have
// had its effect. With goOn the route's plan goes on as after a failure that may be
// retried; without, the job fails if no other attempt is open.
func (c *Client) CancelAttempt(ctx context.Context, id string, attempt int, goOn bool, d Decision) (*Job, error) {
	return c.decide(ctx, "cancel attempt", id, attemptPath(attempt, "/cancel"), d, continued(goOn))
}

// Retry opens the next attempt, also of a failed job, at provider; empty means the
// latest attempt's. ErrUnresolved, with Problem.Attempt, while another attempt is
// not settled.
func (c *Client) Retry(ctx context.Context, id, provider string, d Decision) (*Job, error) {
	body := map[string]any{}
	if provider != "" {
		body["provider"] = provider
	}
	return c.decide(ctx, "retry", id, "/attempts", d, body)
}

// Resolution says what became of a call whose outcome nobody saw.
type Resolution struct {
	Decision
	// Outcome is AttemptSucceeded, AttemptFailed or AttemptCancelled.
	Outcome AttemptState
	// Result is that of an attempt that succeeded, as Request.Input; only then.
	Result any
	// Continue goes on by the route's plan, if it did not succeed.
	Continue bool
}

// Resolve settles an attempt that is not. It takes a key of the role operator.
func (c *Client) Resolve(ctx context.Context, id string, attempt int, r Resolution) (*Job, error) {
	body := continued(r.Continue)
	body["outcome"] = r.Outcome
	if r.Outcome == AttemptSucceeded {
		body["result"] = r.Result
	}
	return c.decide(ctx, "resolve", id, attemptPath(attempt, "/resolve"), r.Decision, body)
}

func attemptPath(n int, verb string) string { return "/attempts/" + strconv.Itoa(n) + verb }

func continued(goOn bool) map[string]any {
	if goOn {
		return map[string]any{"then": "continue"}
	}
	return map[string]any{}
}

// decide posts a decision and reads the job after it.
func (c *Client) decide(ctx context.Context, name, id, rest string, d Decision, body map[string]any) (*Job, error) {
	k, err := onJob(name, http.MethodPost, id, rest)
	if err != nil {
		return nil, err
	}
	if d.Reason != "" {
		body["reason"] = d.Reason
	}
	if k.body, err = json.Marshal(body); err != nil {
		return nil, fmt.Errorf("client: %s: writing the decision as JSON: %w", name, err)
	}
	if d.ExpectVersion != 0 {
		k.header.Set("If-Match", fmt.Sprintf(`"v%d"`, d.ExpectVersion))
	}
	k.writes, k.once = true, true
	a, err := c.do(ctx, k)
	if err != nil {
		return nil, err
	}
	return a.job()
}
