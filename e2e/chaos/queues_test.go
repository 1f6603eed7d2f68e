package chaos_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// queuesEmpty waits until nothing waits for a worker any more: no wake-up is pending
// in a provider's queue, nor in an owner's line beside it.
func (w *world) queuesEmpty(ctx context.Context) error {
	rdb := redis.NewClient(&redis.Options{Addr: w.redis.addr})
	defer func() { _ = rdb.Close() }()
	inspector := asynq.NewInspectorFromRedisClient(rdb)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		left, err := pending(ctx, rdb, inspector)
		if err == nil && left == "" {
			return nil
		}
		if !rest(ctx, 200*time.Millisecond) {
			return fmt.Errorf("what waits in queues although every job has ended: %s, %w", left, err)
		}
	}
}

func pending(ctx context.Context, rdb *redis.Client, inspector *asynq.Inspector) (string, error) {
	for _, name := range []string{"press", "stamp"} {
		queue, err := inspector.GetQueueInfo(name)
		if err != nil {
			return "", fmt.Errorf("reading queue %s: %w", name, err)
		}
		if queue.Pending > 0 {
			return fmt.Sprintf("%d wake-ups in %s", queue.Pending, name), nil
		}
		if owners, err := rdb.ZCard(ctx, "oj:backlog:{"+name+"}:owners").Result(); err != nil || owners > 0 {
			return fmt.Sprintf("%d owners' lines beside %s", owners, name), err
		}
	}
	return "", nil
}
