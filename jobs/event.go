package jobs

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
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

// eventsBatch is how many lines of the trail are asked for at a time: most have fewer.
const eventsBatch = 32

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
	events := []Event{}
	for len(events) < limit {
		size := min(eventsBatch, limit-len(events))
		batch, err := s.eventsFrom(ctx, partition(p).job(jobID), last+1+len(events), size)
		if err != nil {
			return nil, fmt.Errorf("reading the trail of job %s: %w", jobID, err)
		}
		events = append(events, batch...)
		if len(batch) < size {
			break
		}
	}
	return events, nil
}

// eventsFrom reads up to size lines of a trail, from the one with a number on. They are
// numbered without a gap.
func (s *Store) eventsFrom(ctx context.Context, record string, first, size int) ([]Event, error) {
	fields := make([]string, size)
	for i := range fields {
		fields[i] = "e" + strconv.Itoa(first+i)
	}
	lines, err := s.rdb.HMGet(ctx, record, fields...).Result()
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what for
	}
	events := make([]Event, 0, size)
	for i, line := range lines {
		text, ok := line.(string)
		if !ok {
			break
		}
		events = append(events, decodeEvent(first+i, text))
	}
	return events, nil
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
