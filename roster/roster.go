package roster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// index is the zset of ids by the time they were seen.
const index = "oj:processes"

func key(id string) string { return "oj:process:" + id }

// Times of records.
const (
	// DefaultEvery is the pause between two records of a process.
	DefaultEvery = 3 * time.Second
	// keepFor is how long a record stays that is not written again.
	keepFor = 20 * time.Second
	// indexFor is how long an id stays in the index. It is long because the clocks
	// of the writers differ; List leaves out ids that have no record.
	indexFor = time.Hour
)

// Roster reads and writes the records. It is safe for concurrent use.
type Roster struct {
	// Redis holds oj:process:<id> and oj:processes.
	Redis redis.UniversalClient
}

// List returns the processes that are there, in the order of their kind, host and
// id. A record this version cannot read is left out. It takes two round trips
// and writes nothing.
func (r Roster) List(ctx context.Context) ([]Process, error) {
	ids, err := r.Redis.ZRange(ctx, index, 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := r.Redis.Pipeline()
	records := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		records[i] = pipe.Get(ctx, key(id))
	}
	_, _ = pipe.Exec(ctx) // each command has its own answer
	processes := make([]Process, 0, len(ids))
	for _, record := range records {
		b, err := record.Bytes()
		if errors.Is(err, redis.Nil) {
			continue // ran out
		}
		if err != nil {
			return nil, fmt.Errorf("reading processes: %w", err)
		}
		var p Process
		if json.Unmarshal(b, &p) == nil {
			processes = append(processes, p)
		}
	}
	slices.SortFunc(processes, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Host, b.Host), cmp.Compare(a.ID, b.ID))
	})
	return processes, nil
}

// Write writes the record of a process, in one round trip. p.Seen is its time.
func (r Roster) Write(ctx context.Context, p Process) error {
	record, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing the record of process %s: %w", p.ID, err)
	}
	pipe := r.Redis.Pipeline()
	pipe.Set(ctx, key(p.ID), record, keepFor)
	pipe.ZAdd(ctx, index, redis.Z{Score: float64(p.Seen.UnixMilli()), Member: p.ID})
	pipe.ZRemRangeByScore(ctx, index, "-inf", strconv.FormatInt(p.Seen.Add(-indexFor).UnixMilli(), 10))
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("writing the record of process %s: %w", p.ID, err)
	}
	return nil
}

// Remove takes a process off, in one round trip.
func (r Roster) Remove(ctx context.Context, id string) error {
	pipe := r.Redis.Pipeline()
	pipe.Del(ctx, key(id))
	pipe.ZRem(ctx, index, id)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("removing the record of process %s: %w", id, err)
	}
	return nil
}
