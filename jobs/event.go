package jobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Event is one line of a job's trail.
type Event struct {
	ID      string `json:"id"` // in the order they happened
	At      Time   `json:"at"`
	Actor   string `json:"actor"`
	Verb    string `json:"verb"`
	Attempt int    `json:"attempt,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Events returns up to limit lines of the trail, oldest first, after the event
// with the id after; empty: from the first.
func (s *Store) Events(ctx context.Context, jobID, after string, limit int) ([]Event, error) {
	p, ok := partitionOfID(jobID)
	if !ok {
		return nil, &Refusal{Code: CodeNotFound, JobID: jobID}
	}
	from := "-"
	if after != "" {
		if !validEventID(after) {
			return nil, ErrBadCursor
		}
		from = "(" + after
	}
	messages, err := s.rdb.XRangeN(ctx, partition(p).events(jobID), from, "+", int64(limit)).Result()
	if err != nil {
		return nil, fmt.Errorf("reading the trail of job %s: %w", jobID, err)
	}
	events := make([]Event, 0, len(messages))
	for _, m := range messages {
		events = append(events, decodeEvent(m))
	}
	return events, nil
}

func decodeEvent(m redis.XMessage) Event {
	value := func(name string) string { return str(m.Values[name]) }
	ms, _, _ := strings.Cut(m.ID, "-")
	return Event{
		ID: m.ID, At: moment(ms), Actor: value("actor"), Verb: value("verb"), Attempt: int(num(value("attempt"))),
		From: value("from"), To: value("to"), Reason: value("reason"),
	}
}

func validEventID(id string) bool {
	ms, n, ok := strings.Cut(id, "-")
	if !ok {
		return false
	}
	_, err1 := strconv.ParseUint(ms, 10, 63)
	_, err2 := strconv.ParseUint(n, 10, 64)
	return err1 == nil && err2 == nil
}
