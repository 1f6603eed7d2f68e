package jobs

import (
	"encoding/json"
	"strconv"
)

// AttemptState is the state of an attempt (design §2). Only the Lua scripts set it.
type AttemptState string

// States of an attempt. The first three are open, the last four terminal.
const (
	AttemptStarting  AttemptState = "starting"
	AttemptRunning   AttemptState = "running"
	AttemptUnknown   AttemptState = "unknown"
	AttemptSucceeded AttemptState = "succeeded"
	AttemptFailed    AttemptState = "failed"
	AttemptCancelled AttemptState = "cancelled"
	AttemptDiscarded AttemptState = "discarded"
)

// Open tells whether the attempt may still change its job.
func (s AttemptState) Open() bool {
	return s == AttemptStarting || s == AttemptRunning || s == AttemptUnknown
}

// Attempt is one try at one provider for one job.
type Attempt struct {
	Number      int             `json:"number"`
	ID          string          `json:"id"` // <job id>-a<number>; the provider's idempotency key
	Provider    string          `json:"provider"`
	State       AttemptState    `json:"state"`
	Fence       int64           `json:"fence,omitempty"` // the job's version when it was claimed
	Reason      string          `json:"reason,omitempty"`
	Error       string          `json:"error,omitempty"`
	Effect      string          `json:"effect"` // none, done or unknown: a cancelled one may have cost money, too
	Evidence    json.RawMessage `json:"evidence,omitempty"`
	Handle      string          `json:"handle,omitempty"`
	Certificate string          `json:"certificate,omitempty"` // allowed the fail-over to this provider
	Usage       json.RawMessage `json:"usage,omitempty"`
	LateResult  *LateResult     `json:"late_result,omitempty"`
	Lookup      *Lookup         `json:"lookup,omitempty"`
	CreatedAt   Time            `json:"created_at"`
	NotBefore   Time            `json:"not_before,omitzero"`
	SentAt      Time            `json:"sent_at,omitzero"`
	UnknownAt   Time            `json:"unknown_at,omitzero"`
	FinishedAt  Time            `json:"finished_at,omitzero"`

	Deadline Time `json:"-"` // listened to until then
	Lease    Time `json:"-"` // the claim's lease ends then unless beaten
	lookupAt Time
}

// LateResult is what is kept of an outcome that arrived after the slot was
// taken or the attempt revoked (I6): never the payload.
type LateResult struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	At     Time   `json:"at"`
	Reason string `json:"reason"`
}

// Lookup is what asking the provider about an unknown attempt has said, most
// recently.
type Lookup struct {
	Said  string `json:"said"`
	At    Time   `json:"at"`
	Times int    `json:"times"`
}

// AttemptID is the id of attempt n of a job.
func AttemptID(jobID string, n int) string { return jobID + "-a" + strconv.Itoa(n) }
