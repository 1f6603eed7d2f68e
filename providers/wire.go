package providers

import (
	"errors"
	"sync"
	"time"
)

// ErrNotEntitled is returned by Leaving when the call must not be sent any more.
var ErrNotEntitled = errors.New("the attempt's lease ended before the call could leave")

// errSealed is returned by Leaving after Seal.
var errSealed = errors.New("the call is over")

// Evidence is what was seen of one call on the wire. It is kept with the
// attempt, so that a person can judge an unknown outcome.
type Evidence struct {
	SentAt       time.Time `json:"sent_at,omitzero"`       // the first byte was handed to the connection
	FirstByteAt  time.Time `json:"first_byte_at,omitzero"` // the first byte of an answer
	LastByteAt   time.Time `json:"last_byte_at,omitzero"`  // the latest byte of an answer
	BytesWritten int64     `json:"bytes_written"`
	BytesRead    int64     `json:"bytes_read"`
	Status       int       `json:"status,omitempty"`     // HTTP status, 0 when no head arrived
	Complete     bool      `json:"complete"`             // the answer arrived whole
	RequestID    string    `json:"request_id,omitempty"` // the provider's own request id
	Error        string    `json:"error,omitempty"`      // transport error, one line, no secrets
}

// Wire stands between a provider and its connection: it lets the first byte out
// only while the attempt is entitled, and records what went over the wire.
// All methods are safe for concurrent use.
type Wire struct {
	mu       sync.Mutex
	entitled func() error
	now      func() time.Time
	evidence Evidence
	sent     chan struct{}
	let      bool  // sent is closed
	sealed   bool  // nothing may leave any more
	refused  error // what entitled said when it said no
	ended    bool  // the connection has nothing more to read
}

// NewWire returns a Wire that asks entitled right before the first byte; nil
// means always entitled.
func NewWire(entitled func() error) *Wire {
	return &Wire{entitled: entitled, now: time.Now, sent: make(chan struct{})}
}

// Leaving is called immediately before the first byte of the create is written.
// An error means that nothing may be written any more.
func (w *Wire) Leaving() error {
	var refused error
	if w.entitled != nil {
		refused = w.entitled()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if refused != nil {
		w.refused = refused
		return refused
	}
	if w.sealed {
		return errSealed
	}
	if w.evidence.SentAt.IsZero() {
		w.evidence.SentAt = w.now()
	}
	if !w.let {
		w.let = true
		close(w.sent)
	}
	return nil
}

// Unwritten takes a Leaving back: the connection reported that it took no byte
// at all. It changes nothing once a byte was written.
func (w *Wire) Unwritten() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.evidence.BytesWritten == 0 {
		w.evidence.SentAt = time.Time{}
	}
}

// Seal ends the call: Leaving fails from now on. It reports whether anything
// may have left before. False is proof that nothing did and nothing will, which
// is what a definite "not sent" rests on (design §5).
func (w *Wire) Seal() (left bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sealed = true
	return !w.evidence.SentAt.IsZero()
}

// refusal is the error of the gate, nil when it let the call go.
func (w *Wire) refusal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

// end records that reading the connection came to its end.
func (w *Wire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// atEnd tells whether the connection ended, as opposed to being left by us.
func (w *Wire) atEnd() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// unsent tells whether nothing left so far; it may still leave.
func (w *Wire) unsent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.evidence.SentAt.IsZero()
}

// Sent is closed when the first byte was let out. It stays closed when the
// connection then took none (Unwritten): Evidence tells.
func (w *Wire) Sent() <-chan struct{} { return w.sent }

// Wrote records n bytes handed to the connection; a negative n takes back what
// it turned out not to have taken.
func (w *Wire) Wrote(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evidence.BytesWritten += int64(n)
}

// Read records n bytes that came back. What comes before the create has left is
// no answer to it (TLS sends session tickets then) and is not counted.
func (w *Wire) Read(n int) {
	if n <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.evidence.SentAt.IsZero() {
		return
	}
	at := w.now()
	if w.evidence.FirstByteAt.IsZero() {
		w.evidence.FirstByteAt = at
	}
	w.evidence.LastByteAt = at
	w.evidence.BytesRead += int64(n)
}

// Note changes the evidence by hand: status, completeness, request id, error.
func (w *Wire) Note(change func(*Evidence)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.evidence)
}

// Evidence returns a copy of what was seen so far.
func (w *Wire) Evidence() Evidence {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.evidence
}

// LastActivity is when the wire was last heard of: the latest byte of an answer
// or, before one came, the moment of sending; zero before that. The silence of
// design §5 is counted from here.
func (w *Wire) LastActivity() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.evidence.LastByteAt.After(w.evidence.SentAt) {
		return w.evidence.LastByteAt
	}
	return w.evidence.SentAt
}
