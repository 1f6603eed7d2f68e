package tasks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
	"onejob/tasks"
)

// The keys are asynq's own; a new version of it may have others.
func TestCount_AgreesWithAsynq(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		client, inspector := asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)
		put := func(id string, opts ...asynq.Option) {
			_, err := client.EnqueueContext(t.Context(), asynq.NewTask("x", nil), append(opts, asynq.TaskID(id), asynq.Queue("inkjet"))...)
			require.NoError(t, err)
		}
		put("p1")
		put("p2")
		put("p3")
		put("s1", asynq.ProcessIn(time.Hour))
		put("a1")
		require.NoError(t, inspector.ArchiveTask("inkjet", "a1"))
		require.NoError(t, inspector.PauseQueue("inkjet"))

		queue := tasks.NewQueue(rdb, func(string) time.Duration { return time.Minute })
		counts, err := queue.Count(t.Context(), []string{"inkjet", "none"})
		require.NoError(t, err)
		require.Equal(t, map[string]tasks.Count{
			"inkjet": {Pending: 3, Scheduled: 1, Archived: 1, Paused: true}, "none": {},
		}, counts)
		info, err := inspector.GetQueueInfo("inkjet")
		require.NoError(t, err)
		require.Equal(t, []int{3, 0, 1, 0, 1}, []int{info.Pending, info.Active, info.Scheduled, info.Retry, info.Archived})
		require.True(t, info.Paused)

		require.NoError(t, inspector.UnpauseQueue("inkjet"))
		gate, started := make(chan struct{}), make(chan struct{}, 3)
		server := asynq.NewServerFromRedisClient(rdb, asynq.Config{
			Concurrency: 2, Queues: map[string]int{"inkjet": 1}, LogLevel: asynq.FatalLevel, TaskCheckInterval: 5 * time.Millisecond,
			ShutdownTimeout: 100 * time.Millisecond,
		})
		require.NoError(t, server.Start(asynq.HandlerFunc(func(ctx context.Context, _ *asynq.Task) error {
			started <- struct{}{}
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return errors.New("again")
		})))
		defer server.Shutdown()
		defer close(gate)
		for range 2 {
			<-started
		}
		counts, err = queue.Count(t.Context(), []string{"inkjet"})
		require.NoError(t, err)
		require.Equal(t, tasks.Count{Pending: 1, Active: 2, Scheduled: 1, Archived: 1}, counts["inkjet"])
	})
}
