package tasks

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Count is how many tasks are where in a queue.
type Count struct {
	Pending, Active, Scheduled, Retry, Archived int64
	// Paused: workers take nothing from it.
	Paused bool
}

// Count counts the tasks of queues, in one round trip; a queue that is not there has
// none. asynq's inspector would look at the size of tasks besides, one queue after
// the other and without a limit of time; TestCount_AgreesWithAsynq holds the two
// together.
func (q *Queue) Count(ctx context.Context, queues []string) (map[string]Count, error) {
	pipe := q.rdb.Pipeline()
	type answers struct {
		lists  [5]*redis.IntCmd
		paused *redis.IntCmd
	}
	asked := make([]answers, len(queues))
	for i, queue := range queues {
		at := "asynq:{" + queue + "}:"
		asked[i] = answers{lists: [5]*redis.IntCmd{
			pipe.LLen(ctx, at+"pending"), pipe.LLen(ctx, at+"active"),
			pipe.ZCard(ctx, at+"scheduled"), pipe.ZCard(ctx, at+"retry"), pipe.ZCard(ctx, at+"archived"),
		}, paused: pipe.Exists(ctx, at+"paused")}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("counting the tasks of the queues: %w", err)
	}
	counts := make(map[string]Count, len(queues))
	for i, queue := range queues {
		l := asked[i].lists
		counts[queue] = Count{
			Pending: l[0].Val(), Active: l[1].Val(), Scheduled: l[2].Val(), Retry: l[3].Val(), Archived: l[4].Val(),
			Paused: asked[i].paused.Val() > 0,
		}
	}
	return counts, nil
}
