package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// OpenJobs is how many jobs of an owner have not ended. The scripts that make and
// end them keep the count, partition by partition, so it costs one round trip
// however many there are; the partitions are read one after the other, not at one
// instant.
func (s *Store) OpenJobs(ctx context.Context, owner string) (int, error) {
	hash := OwnerHash(owner)
	pipe := s.rdb.Pipeline()
	counts := make([]*redis.StringCmd, Partitions)
	for p := range counts {
		counts[p] = pipe.HGet(ctx, partition(p).open(), hash)
	}
	_, err := pipe.Exec(ctx)
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("counting the open jobs of an owner: %w", err)
	}
	open := 0
	for _, count := range counts {
		if count.Err() != nil && !errors.Is(count.Err(), redis.Nil) {
			return 0, fmt.Errorf("counting the open jobs of an owner: %w", count.Err())
		}
		open += int(num(count.Val()))
	}
	return open, nil
}

// KeyHeld tells whether an owner's idempotency key is taken, so that submitting it
// makes no new job.
func (s *Store) KeyHeld(ctx context.Context, owner, key string) (bool, error) {
	p := partition(partitionOf(owner, key))
	n, err := s.rdb.Exists(ctx, p.key(keyHash(owner, key))).Result()
	if err != nil {
		return false, fmt.Errorf("looking for a key: %w", err)
	}
	return n > 0, nil
}

// Miscount is a partition's count of an owner's open jobs that is not true.
type Miscount struct {
	Key       string // of the count
	OwnerHash string
	Counted   int
	There     int
}

// Recount compares the counts of open jobs with the indexes (I11) and calls each with
// what does not agree; with repair the counts follow the indexes.
func (s *Store) Recount(ctx context.Context, repair bool, each func(Miscount) error) error {
	flag := 0
	if repair {
		flag = 1
	}
	for p := range partition(Partitions) {
		found, err := lua.Recount.Run(ctx, s.rdb, []string{p.open()}, flag).Slice()
		if err != nil {
			return fmt.Errorf("counting the open jobs of partition %d: %w", int(p), err)
		}
		for _, entry := range found {
			fields, ok := entry.([]any)
			if !ok || len(fields) != 3 {
				return fmt.Errorf("counting the open jobs of partition %d: unexpected entry %v", int(p), entry)
			}
			wrong := Miscount{Key: p.open(), OwnerHash: str(fields[0]), Counted: int(num(fields[1])), There: int(num(fields[2]))}
			if err := each(wrong); err != nil {
				return err
			}
		}
	}
	return nil
}
