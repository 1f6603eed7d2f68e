package jobs

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// State is the state of a job (design §2). Only the Lua scripts set it.
type State string

// States of a job.
const (
	Queued    State = "queued"
	Running   State = "running"
	Unknown   State = "unknown"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// States lists every state of a job in the order a job can meet them.
var States = []State{Queued, Running, Unknown, Succeeded, Failed, Cancelled}

// Ended tells whether waits end, webhooks go out and retention runs.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// Final tells whether the job never changes again (I5). Failed is ended but
// not final: it can be reopened.
func (s State) Final() bool { return s == Succeeded || s == Cancelled }

// Valid tells whether s is one of States.
func (s State) Valid() bool {
	return slices.Contains(States, s)
}

// Job is the durable record of one intent. Its JSON form is the one of the
// HTTP API (design §7).
type Job struct {
	ID             string          `json:"id"`
	Owner          string          `json:"owner"`
	Route          string          `json:"route"`
	Provider       string          `json:"provider"` // of the latest attempt
	IdempotencyKey string          `json:"idempotency_key"`
	State          State           `json:"state"`
	Version        int64           `json:"version"` // the fencing number; rises when a decision shuts out what still runs
	Input          json.RawMessage `json:"input"`
	Params         json.RawMessage `json:"params,omitempty"`
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	WebhookURL     string          `json:"webhook_url,omitempty"`
	Result         json.RawMessage `json:"result,omitempty"`
	CompletedBy    int             `json:"completed_by,omitempty"` // number of the winning attempt
	Error          *Error          `json:"error,omitempty"`
	BlockedBy      *Block          `json:"blocked_by,omitempty"`
	Next           *Next           `json:"next"`
	Hold           string          `json:"hold,omitempty"` // why nothing starts although it could: an operator archived its wake-up
	Attempts       []Attempt       `json:"attempts"`
	Webhooks       []Webhook       `json:"webhooks,omitempty"` // what its webhook was told
	CreatedAt      Time            `json:"created_at"`
	UpdatedAt      Time            `json:"updated_at"`
	StartBy        Time            `json:"start_by,omitzero"`
	EndedAt        Time            `json:"ended_at,omitzero"`
	ExpiresAt      Time            `json:"expires_at,omitzero"`

	Revision    int64  `json:"-"` // raised by every write; second part of the ETag
	Fingerprint string `json:"-"` // binds the key to the exact intent
	Trace       string `json:"-"` // the W3C trace context it was submitted with; may be empty
}

// Attempt returns the attempt with number n, or nil.
func (j *Job) Attempt(n int) *Attempt {
	for i := range j.Attempts {
		if j.Attempts[i].Number == n {
			return &j.Attempts[i]
		}
	}
	return nil
}

// Error says why a job failed.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Attempt int    `json:"attempt,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// Next answers: may this be tried again, and why (not)?
type Next struct {
	Allowed bool   `json:"allowed"`        // another attempt may be opened now
	Why     string `json:"why"`            // one of the words of explain.go
	Call    string `json:"call,omitempty"` // what to do: the call that opens it, or the first thing that may be done instead
}

// Block says what holds back the next attempt, and what may be done about it.
type Block struct {
	Attempt        int      `json:"attempt"`
	State          string   `json:"state"`
	Reason         string   `json:"reason,omitempty"`
	Since          Time     `json:"since"`
	ListeningUntil Time     `json:"listening_until,omitzero"` // a late answer still settles it until then
	NextLookupAt   Time     `json:"next_lookup_at,omitzero"`
	Actions        []string `json:"actions"`
}

// Time is a moment in milliseconds since the Unix epoch, as Redis counts them;
// in JSON it is RFC 3339 in UTC with three decimals. The zero value means never.
type Time int64

// IsZero tells whether the time is not set.
func (t Time) IsZero() bool { return t == 0 }

// Go returns t as a time.Time in UTC.
func (t Time) Go() time.Time { return time.UnixMilli(int64(t)).UTC() }

// MarshalJSON writes RFC 3339 with milliseconds, or null when not set.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.appendJSON(nil), nil
}

// MarshalJSONTo is MarshalJSON for github.com/go-json-experiment/json, which takes it
// as it is.
func (t Time) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(t.appendJSON(enc.AvailableBuffer())) //nolint:wrapcheck // the encoder's own
}

func (t Time) appendJSON(b []byte) []byte {
	if t == 0 {
		return append(b, "null"...)
	}
	b = t.Go().AppendFormat(append(b, '"'), time.RFC3339) // package time has code of its own for this layout
	milli := (t%1000 + 1000) % 1000
	return append(b[:len(b)-1], '.', byte('0'+milli/100), byte('0'+milli/10%10), byte('0'+milli%10), 'Z', '"')
}

// UnmarshalJSON reads what MarshalJSON writes, and any other RFC 3339 time.
func (t *Time) UnmarshalJSON(b []byte) error {
	var at *time.Time
	if err := json.Unmarshal(b, &at); err != nil {
		return fmt.Errorf("reading a time: %w", err)
	}
	if at == nil {
		*t = 0
		return nil
	}
	*t = Time(at.UnixMilli())
	return nil
}
