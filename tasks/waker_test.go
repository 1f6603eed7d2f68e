package tasks_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
	"onejob/tasks"
)

var noLog = slog.New(slog.DiscardHandler)

func TestWaker_NowAndLater(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		d := openDesk(t, rdb, "k")
		waker := tasks.NewWaker(d.queue, noLog)
		waker.Wake(d.ctx, d.wake)
		require.Eventually(t, func() bool { return d.exists(0) }, patience, 5*time.Millisecond)

		later := d.wake
		later.Attempt, later.In = 2, 30*time.Millisecond
		d.id = jobs.AttemptID(d.wake.JobID, 2)
		waker.Wake(d.ctx, later)
		require.Eventually(t, func() bool { return d.exists(0) }, patience, 5*time.Millisecond)

		// What is to be woken after the process ends is forgotten: it is due in the store.
		never := d.wake
		never.Attempt, never.In = 3, time.Hour
		d.id = jobs.AttemptID(d.wake.JobID, 3)
		waker.Wake(d.ctx, never)
		waker.Close()
		require.False(t, d.exists(0))
		waker.Wake(d.ctx, never)
		waker.Close()
	})
}

// Nobody waits for a queue that is away, and nobody is told: the sweeper wakes.
func TestWaker_AQueueThatIsAway(t *testing.T) {
	t.Parallel()
	gone := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = gone.Close() })
	d := openDesk(t, gone, "k")
	waker := tasks.NewWaker(d.queue, noLog)
	started := time.Now()
	waker.Wake(d.ctx, d.wake)
	require.Less(t, time.Since(started), time.Second)
	waker.Close()
	require.Less(t, time.Since(started), 10*time.Second)
}
