package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Census is what the store holds, for those who watch over it.
type Census struct {
	// Jobs counts the records by state; ended ones until they expire.
	Jobs map[State]int64
	// Due counts what is to happen later, Overdue what should have happened by now.
	Due, Overdue int64
	// Lag is by how much the oldest entry is overdue; 0 when none is.
	Lag time.Duration
	// Unknown are the jobs in state unknown, the longest unknown first. Of each
	// partition the oldest are looked at (unknownMost), so that there may be more:
	// Jobs has their number.
	Unknown []UnknownAttempt
}

// UnknownAttempt is the attempt that keeps a job unknown.
type UnknownAttempt struct {
	JobID    string
	Attempt  int
	Provider string
	Since    Time
	// Settling: it may settle without a person, for it is still listened to, or
	// its provider is going to be asked. That a provider's settles_after will end
	// it is not seen here.
	Settling bool
}

// unknownMost bounds how many unknown jobs of a partition a census looks at.
const unknownMost = 20

// Census counts. It takes at most three round trips, whose cost does not grow with
// what is stored.
func (s *Store) Census(ctx context.Context) (Census, error) {
	c := Census{Jobs: make(map[State]int64, len(States))}
	pipe := s.rdb.Pipeline()
	clock := pipe.Time(ctx)
	counts := make([]partitionCount, Partitions)
	for p := range counts {
		counts[p] = countPartition(ctx, pipe, partition(p))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return Census{}, fmt.Errorf("counting jobs: %w", err)
	}
	now := clock.Val()
	var overdue, unknown []partition
	for p, count := range counts {
		for _, state := range States {
			c.Jobs[state] += count.states[state].Val()
		}
		c.Due += count.due.Val()
		if first := count.first.Val(); len(first) > 0 {
			if late := now.Sub(time.UnixMilli(int64(first[0].Score))); late >= 0 {
				overdue = append(overdue, partition(p))
				c.Lag = max(c.Lag, late)
			}
		}
		if count.states[Unknown].Val() > 0 {
			unknown = append(unknown, partition(p))
		}
	}
	ids, err := s.countOverdue(ctx, &c, now, overdue, unknown)
	if err == nil {
		err = s.readUnknown(ctx, &c, ids)
	}
	return c, err
}

// partitionCount are the questions asked of one partition.
type partitionCount struct {
	states map[State]*redis.IntCmd
	due    *redis.IntCmd
	first  *redis.ZSliceCmd
}

func countPartition(ctx context.Context, pipe redis.Pipeliner, p partition) partitionCount {
	count := partitionCount{
		states: make(map[State]*redis.IntCmd, len(States)),
		due:    pipe.ZCard(ctx, p.due()), first: pipe.ZRangeWithScores(ctx, p.due(), 0, 0),
	}
	for _, state := range States {
		count.states[state] = pipe.ZCard(ctx, p.state(state))
	}
	return count
}

// countOverdue counts what is overdue, and finds the ids of unknown jobs.
func (s *Store) countOverdue(ctx context.Context, c *Census, now time.Time, overdue, unknown []partition) ([]string, error) {
	if len(overdue)+len(unknown) == 0 {
		return nil, nil
	}
	pipe := s.rdb.Pipeline()
	late := make([]*redis.IntCmd, len(overdue))
	for i, p := range overdue {
		late[i] = pipe.ZCount(ctx, p.due(), "-inf", strconv.FormatInt(now.UnixMilli(), 10))
	}
	oldest := make([]*redis.StringSliceCmd, len(unknown))
	for i, p := range unknown {
		oldest[i] = pipe.ZRange(ctx, p.state(Unknown), 0, unknownMost-1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("counting what is overdue and unknown: %w", err)
	}
	for _, n := range late {
		c.Overdue += n.Val()
	}
	var ids []string
	for _, found := range oldest {
		ids = append(ids, found.Val()...)
	}
	return ids, nil
}

// readUnknown reads what is small of unknown jobs, and not the rest:
// inputs may be large. What a newer onejob wrote is left to its census.
func (s *Store) readUnknown(ctx context.Context, c *Census, ids []string) error {
	records, err := s.someOf(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading unknown attempts: %w", err)
	}
	for _, r := range records {
		f, err := readFields(r.id, r.command.Val().([]any))
		if _, newer := errors.AsType[*NewerSchema](err); newer {
			continue
		}
		if err != nil {
			return err
		}
		if u := longestUnknown(r.id, decodeAttempts(r.id, f)); u != nil {
			c.Unknown = append(c.Unknown, *u)
		}
	}
	slices.SortFunc(c.Unknown, func(a, b UnknownAttempt) int { return int(a.Since - b.Since) })
	return nil
}

// longestUnknown is the attempt that became unknown first; nil where none is any
// more. One that may settle by itself settles its job.
func longestUnknown(jobID string, attempts []Attempt) *UnknownAttempt {
	var longest *UnknownAttempt
	settling := false
	for i := range attempts {
		a := &attempts[i]
		if a.State != AttemptUnknown {
			continue
		}
		settling = settling || a.listenedTo() || !a.lookupAt.IsZero()
		if longest == nil || a.UnknownAt < longest.Since {
			longest = &UnknownAttempt{JobID: jobID, Attempt: a.Number, Provider: a.Provider, Since: a.UnknownAt}
		}
	}
	if longest != nil {
		longest.Settling = settling
	}
	return longest
}
