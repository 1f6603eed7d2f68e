package jobs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Event is one line of a job's trail.
type Event struct {
	ID      string `json:"id"` // a number, in the order they happened
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
	last, err := eventNumber(after)
	if err != nil {
		return nil, err
	}
	keys := partition(p)
	count, err := s.rdb.HGet(ctx, keys.job(jobID), "events").Int()
	if errors.Is(err, redis.Nil) {
		return []Event{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("counting the trail of job %s: %w", jobID, err)
	}
	var fields []string
	for k := last + 1; k <= min(count, last+limit); k++ {
		fields = append(fields, "e"+strconv.Itoa(k))
	}
	if len(fields) == 0 {
		return []Event{}, nil
	}
	lines, err := s.rdb.HMGet(ctx, keys.data(jobID), fields...).Result()
	if err != nil {
		return nil, fmt.Errorf("reading the trail of job %s: %w", jobID, err)
	}
	return decodeEvents(last, lines), nil
}

func decodeEvents(last int, lines []any) []Event {
	events := make([]Event, 0, len(lines))
	for i, line := range lines {
		if text, ok := line.(string); ok {
			events = append(events, decodeEvent(last+1+i, text))
		}
	}
	return events
}

// decodeEvent reads a line as lua/record.lua writes it.
func decodeEvent(number int, line string) Event {
	const fields = 7
	parts := strings.SplitN(line, "\t", fields)
	for len(parts) < fields {
		parts = append(parts, "")
	}
	return Event{
		ID: strconv.Itoa(number), At: moment(parts[0]), Actor: parts[1], Verb: parts[2], Attempt: int(num(parts[3])),
		From: parts[4], To: parts[5], Reason: parts[6],
	}
}

// eventNumber is the number of the event with that id; 0 for none.
func eventNumber(id string) (int, error) {
	if id == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(id)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0, ErrBadCursor
	}
	return n, nil
}
