package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/e2e/process"
	"onejob/jobs"
)

// finishTime bounds the wait for a backlog.
const finishTime = 3 * time.Minute

// finished waits until so many jobs have succeeded.
func (s *store) finished(ctx context.Context, count int) error {
	return process.Until(ctx, finishTime, func(ctx context.Context) error {
		succeeded, err := s.in(ctx, jobs.Succeeded)
		if err == nil && succeeded < int64(count) {
			err = fmt.Errorf("%d of %d jobs have succeeded", succeeded, count)
		}
		return err
	})
}

// processed waits until so many tasks of the floor's queue are done, by asynq's count.
func (s *store) processed(ctx context.Context, count int) error {
	return process.Until(ctx, finishTime, func(ctx context.Context) error {
		done, err := s.rdb.Get(ctx, "asynq:{default}:processed").Int()
		if err == nil && done < count {
			err = fmt.Errorf("%d of %d tasks are done", done, count)
		}
		return err
	})
}

// in counts the jobs in a state.
func (s *store) in(ctx context.Context, state jobs.State) (int64, error) {
	pipe := s.rdb.Pipeline()
	sizes := make([]*redis.IntCmd, jobs.Partitions)
	for p := range sizes {
		sizes[p] = pipe.ZCard(ctx, "oj:{"+strconv.Itoa(p)+"}:state:"+string(state))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("counting jobs: %w", err)
	}
	var total int64
	for _, size := range sizes {
		total += size.Val()
	}
	return total, nil
}

// queued counts the wake-ups of the provider that wait or are worked on.
func (s *store) queued(ctx context.Context) (int64, error) {
	pipe := s.rdb.Pipeline()
	pending, active := pipe.LLen(ctx, "asynq:{instant}:pending"), pipe.LLen(ctx, "asynq:{instant}:active")
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("counting wake-ups: %w", err)
	}
	return pending.Val() + active.Val(), nil
}

// idle waits until nothing waits on the queue.
func (s *store) idle(ctx context.Context) error {
	return process.Until(ctx, finishTime, func(ctx context.Context) error {
		n, err := s.queued(ctx)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d wake-ups are on the queue", n)
		}
		return err
	})
}

func (s *store) empty(ctx context.Context) error {
	if err := s.rdb.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("emptying Redis: %w", err)
	}
	return nil
}
