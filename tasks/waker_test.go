package tasks_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
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

// gate lets no script pass until it is opened, and counts them.
type gate struct {
	open    chan struct{}
	scripts atomic.Int64
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook { return next }

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" {
			g.scripts.Add(1)
			<-g.open
		}
		return next(ctx, cmd)
	}
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// handed hands many wake-ups to a waker while the queue does not answer, lets it
// answer, and tells how many were placed.
func handed(t *testing.T, rdb *redis.Client, many int) (g *gate, placed int) {
	t.Helper()
	s := openShop(t, rdb, nil)
	require.NoError(t, s.queue.Enqueue(s.ctx, jobs.Wake{JobID: jobs.NewID("acme", "first"), Attempt: 1, Provider: s.provider})) // loads the scripts
	g = &gate{open: make(chan struct{})}
	rdb.AddHook(g)
	waker := tasks.NewWaker(s.queue, noLog)
	for i := range many {
		waker.Wake(s.ctx, jobs.Wake{JobID: jobs.NewID("acme", fmt.Sprint(i)), Attempt: 1, Provider: s.provider, Owner: jobs.OwnerHash("acme")})
	}
	close(g.open)
	waker.Close()
	backlog, err := s.queue.Backlog(s.ctx, s.provider)
	require.NoError(t, err)
	return g, backlog.Total + len(s.pendingIDs()) - 1
}

// Wake-ups that come at the same moment are placed by one script, not one each.
func TestWaker_ManyAtOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const many = 500
		g, placed := handed(t, rdb, many)
		require.Equal(t, many, placed)
		require.Less(t, g.scripts.Load(), int64(3*window), "those there is room for, and a few for the rest")
	})
}

// A queue that is away does not fill the memory: what is too much is due in the store.
func TestWaker_IsBounded(t *testing.T) {
	t.Parallel()
	const most, inBatch = 10_000, 100
	_, placed := handed(t, redistest.Mini(t), most+2*inBatch)
	require.LessOrEqual(t, placed, most+inBatch)
	require.GreaterOrEqual(t, placed, most)
}
