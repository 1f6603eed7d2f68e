package client

import (
	"encoding/json"
	"time"
)

// AttemptState is the state of an attempt. A server may send one that is not
// listed here.
type AttemptState string

// States of an attempt. The first three are open; what is in the others never
// changes again.
const (
	AttemptStarting  AttemptState = "starting"
	AttemptRunning   AttemptState = "running"
	AttemptUnknown   AttemptState = "unknown"
	AttemptSucceeded AttemptState = "succeeded"
	AttemptFailed    AttemptState = "failed"
	AttemptCancelled AttemptState = "cancelled"
	AttemptDiscarded AttemptState = "discarded" // another one won, or a decision shut it out
)

// Open tells whether the attempt is not settled yet.
func (s AttemptState) Open() bool {
	return s == AttemptStarting || s == AttemptRunning || s == AttemptUnknown
}

// Attempt is one try at one provider.
type Attempt struct {
	Number   int          `json:"number"`
	ID       string       `json:"id"` // also the idempotency key the provider is given
	Provider string       `json:"provider"`
	State    AttemptState `json:"state"`
	Fence    int64        `json:"fence,omitempty"` // the job's version when it was claimed
	Reason   string       `json:"reason,omitempty"`
	Error    string       `json:"error,omitempty"`
	// Effect is none, done or unknown: whether it may have changed something or
	// cost money.
	Effect      string          `json:"effect"`
	Evidence    json.RawMessage `json:"evidence,omitempty"`    // what was seen on the wire
	Handle      string          `json:"handle,omitempty"`      // the provider's own id
	Certificate string          `json:"certificate,omitempty"` // allowed the fail-over to this provider
	Usage       json.RawMessage `json:"usage,omitempty"`       // as the provider counts it
	LateResult  *LateResult     `json:"late_result,omitempty"`
	Lookup      *Lookup         `json:"lookup,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	NotBefore   time.Time       `json:"not_before,omitzero"`
	SentAt      time.Time       `json:"sent_at,omitzero"`
	UnknownAt   time.Time       `json:"unknown_at,omitzero"`
	FinishedAt  time.Time       `json:"finished_at,omitzero"`
}

// LateResult is what is kept of an outcome that came too late: never the payload.
type LateResult struct {
	SHA256 string    `json:"sha256"`
	Bytes  int64     `json:"bytes"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"` // why it lost
}

// Lookup is what asking the provider about an unknown attempt has said, most
// recently.
type Lookup struct {
	Said  string    `json:"said"`
	At    time.Time `json:"at"`
	Times int       `json:"times"`
}
