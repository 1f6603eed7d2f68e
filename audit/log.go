package audit

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

const (
	stream = "oj:audit"
	// kept is about how many entries stay: Redis trims whole nodes of the stream.
	kept = 10000
)

// Log is the book, a stream in Redis. It is safe for concurrent use, and does not
// close the client it was given.
type Log struct {
	rdb redis.UniversalClient
}

// New returns the book in that Redis.
func New(rdb redis.UniversalClient) *Log { return &Log{rdb: rdb} }

// Record enters one line and returns it with its ID and time. An Outcome that is
// empty is Attempted. After an error the line may be there all the same: its
// reply was lost.
func (l *Log) Record(ctx context.Context, e Entry) (Entry, error) {
	if e.Outcome == "" {
		e.Outcome = Attempted
	}
	id, err := l.rdb.XAdd(ctx, &redis.XAddArgs{Stream: stream, MaxLen: kept, Approx: true, Values: e.values()}).Result()
	if err != nil {
		return e, fmt.Errorf("recording %s of %s in the audit log: %w", e.Action, e.Target, err)
	}
	e.ID = id
	e.At, err = timeOf(id)
	return e, err
}

// Settle enters what became of an entry that Record has announced. detail says why
// it was not done.
func (l *Log) Settle(ctx context.Context, announced Entry, outcome Outcome, detail string) error {
	e := announced
	e.ID, e.Of, e.Outcome, e.Detail = "", announced.ID, outcome, detail
	_, err := l.Record(ctx, e)
	return err
}
