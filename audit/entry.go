package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is one line of the book.
type Entry struct {
	ID      string    // of the stream; set by Record
	At      time.Time // UTC, milliseconds; set by Record
	Actor   string    // as on job trails: operator:<owner>
	KeyID   string    // of the API key; not secret
	Role    string
	Action  string // such as pause-provider; a word without blanks
	Target  string // what it was done to, such as a job's id; may be empty
	Reason  string // what the person gave as reason; may be empty
	From    string // the address the request came from
	Outcome Outcome
	Detail  string // why it was refused or failed; may be empty
	// Of is the ID of the entry that announced this one; empty in that one itself.
	Of string
}

// Outcome is what became of a change.
type Outcome string

// Outcomes.
const (
	Attempted Outcome = "attempted" // announced; nothing else is known of it
	Done      Outcome = "done"
	Refused   Outcome = "refused" // by a rule: nothing was changed
	Failed    Outcome = "failed"  // by a fault: it may have been made all the same
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{Attempted, Done, Refused, Failed}

// longest is the most characters kept of any one field. Reasons are at most 500
// already; the rest comes from paths and errors.
const longest = 600

// values are the fields of the stream's entry; empty ones are left out.
func (e Entry) values() map[string]any {
	values := map[string]any{"outcome": string(e.Outcome)}
	for name, value := range map[string]string{
		"actor": e.Actor, "key": e.KeyID, "role": e.Role, "action": e.Action, "target": e.Target,
		"reason": e.Reason, "from": e.From, "detail": e.Detail, "of": e.Of,
	} {
		if value != "" {
			values[name] = clip(value)
		}
	}
	return values
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	return string([]rune(s)[:longest-1]) + "…"
}

// readEntry is the opposite of values.
func readEntry(id string, values map[string]any) (Entry, error) {
	at, err := timeOf(id)
	if err != nil {
		return Entry{}, err
	}
	text := func(name string) string {
		s, _ := values[name].(string)
		return s
	}
	return Entry{
		ID: id, At: at, Actor: text("actor"), KeyID: text("key"), Role: text("role"), Action: text("action"),
		Target: text("target"), Reason: text("reason"), From: text("from"), Outcome: Outcome(text("outcome")),
		Detail: text("detail"), Of: text("of"),
	}, nil
}

// timeOf is Redis's clock when it took the entry, which is the first half of its id.
func timeOf(id string) (time.Time, error) {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the id %q of an audit entry: %w", id, err)
	}
	return time.UnixMilli(n).UTC(), nil
}
