package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// PartitionFacts is what one partition of the store holds, for those who watch
// over it.
type PartitionFacts struct {
	Partition int
	Open      int64 // jobs that have not ended
	Ended     int64 // jobs that have, until their records expire
	Due       int64 // entries of what is to happen later
	// Lag is by how much the oldest of them is overdue; 0 when none is.
	Lag time.Duration
	Seq int64 // rises with every write
	// Rewinds is how often the partition was found to have gone back in time.
	Rewinds int64
}

// Partitions tells of every partition, in their order. It takes one round trip (or
// as many as there are Cluster nodes), whose cost does not grow with what is stored.
func (s *Store) Partitions(ctx context.Context) ([]PartitionFacts, error) {
	pipe := s.rdb.Pipeline()
	clock := pipe.Time(ctx)
	counts := make([]partitionCount, Partitions)
	seqs, epochs := make([]*redis.StringCmd, Partitions), make([]*redis.StringCmd, Partitions)
	for p := range counts {
		counts[p] = countPartition(ctx, pipe, partition(p))
		seqs[p] = pipe.Get(ctx, partition(p).seq())
		epochs[p] = pipe.Get(ctx, partition(p).prefix()+"epoch")
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) { // a partition without a seq was never written
		return nil, fmt.Errorf("looking at the partitions: %w", err)
	}
	facts := make([]PartitionFacts, Partitions)
	for p, count := range counts {
		if err := count.due.Err(); err != nil {
			return nil, fmt.Errorf("looking at partition %d: %w", p, err)
		}
		facts[p] = count.facts(p, clock.Val())
		facts[p].Seq, _ = seqs[p].Int64()
		facts[p].Rewinds, _ = epochs[p].Int64()
	}
	return facts, nil
}

func (c partitionCount) facts(p int, now time.Time) PartitionFacts {
	f := PartitionFacts{Partition: p, Due: c.due.Val()}
	for state, count := range c.states {
		if state == Queued || state == Running || state == Unknown {
			f.Open += count.Val()
		} else {
			f.Ended += count.Val()
		}
	}
	if first := c.first.Val(); len(first) > 0 {
		f.Lag = max(0, now.Sub(time.UnixMilli(int64(first[0].Score))))
	}
	return f
}
