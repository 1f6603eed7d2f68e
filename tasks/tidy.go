package tasks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Sorted sets in which asynq lists its servers, by the time at which they are to be
// taken for dead. A server that is told to stop takes itself off; those of a process
// that was killed stay until somebody lists servers, which no process of ours does.
const (
	asynqServers = "asynq:servers"
	asynqWorkers = "asynq:workers"
)

// deadFor is for how long a server has to be dead to be taken off: the time is its own
// clock's. One that lives is on the list again within seconds.
const deadFor = time.Minute

// Tidy takes servers that have been dead for more than a minute off asynq's lists, in
// one round trip. Without it a worker that is killed again and again would leave an
// entry for each of its queues each time.
func (q *Queue) Tidy(ctx context.Context) error {
	before := strconv.FormatInt(time.Now().Add(-deadFor).Unix(), 10)
	_, err := q.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZRemRangeByScore(ctx, asynqServers, "-inf", before)
		pipe.ZRemRangeByScore(ctx, asynqWorkers, "-inf", before)
		return nil
	})
	if err != nil {
		return fmt.Errorf("taking dead servers off the list: %w", err)
	}
	return nil
}
