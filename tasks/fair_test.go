package tasks_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
	"onejob/tasks"
)

// window is the one of these tests.
const window = 10

// shop is a provider with a queue that is shared, and a worker that notes whose
// wake-ups come in which order.
type shop struct {
	*desk
	provider string

	mu      sync.Mutex
	owners  map[string]string // by job
	started []string          // owners, in the order their wake-ups were delivered
	twice   int
	seen    map[string]bool
}

func openShop(t *testing.T, rdb *redis.Client, shares map[string]int) *shop {
	t.Helper()
	s := &shop{desk: openDesk(t, rdb, "fair"), provider: "press", owners: map[string]string{}, seen: map[string]bool{}}
	hashed := map[string]int{}
	for owner, share := range shares {
		hashed[jobs.OwnerHash(owner)] = share
	}
	s.queue = tasks.NewQueue(rdb, func(string) time.Duration { return time.Minute }, tasks.Fairly(func(string) int { return window }, hashed))
	return s
}

// submit has n attempts of an owner woken for the first time, and returns them.
func (s *shop) submit(owner string, n int) []jobs.Wake {
	s.t.Helper()
	wakes := make([]jobs.Wake, n)
	for i := range wakes {
		wakes[i] = jobs.Wake{JobID: jobs.NewID(owner, fmt.Sprint(i)), Attempt: 1, Provider: s.provider, Owner: jobs.OwnerHash(owner)}
		s.mu.Lock()
		s.owners[wakes[i].JobID] = owner
		s.mu.Unlock()
		require.NoError(s.t, s.queue.Enqueue(s.ctx, wakes[i]))
	}
	return wakes
}

// work delivers wake-ups to so many calls at once, each taking a while, until stop.
func (s *shop) work(concurrency int, took time.Duration) (stop func()) {
	s.t.Helper()
	pump := tasks.NewPump(s.queue, []string{s.provider}, noLog)
	ctx, cancel := context.WithCancel(s.ctx)
	var pumping sync.WaitGroup
	pumping.Go(func() { pump.Run(ctx) })
	server := asynq.NewServerFromRedisClient(s.rdb, asynq.Config{
		Concurrency: concurrency, Queues: map[string]int{s.provider: 1}, TaskCheckInterval: 5 * time.Millisecond, LogLevel: asynq.FatalLevel,
	})
	require.NoError(s.t, server.Start(pump.Around(s.provider, asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		w, err := tasks.ParseWake(task.Payload())
		assert.NoError(s.t, err)
		s.mu.Lock()
		s.started = append(s.started, s.owners[w.JobID])
		if s.seen[w.JobID] {
			s.twice++
		}
		s.seen[w.JobID] = true
		s.mu.Unlock()
		<-time.After(took)
		return nil
	}))))
	return func() {
		cancel()
		pumping.Wait()
		server.Shutdown()
	}
}

func (s *shop) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.started)
}

func (s *shop) untilStarted(n int) []string {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.count() >= n }, time.Minute, 5*time.Millisecond, "%d of %d", s.count(), n)
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.started...)
}

// before counts an owner's wake-ups that were delivered before another's first.
func before(started []string, other string) int {
	for i, owner := range started {
		if owner == other {
			return i
		}
	}
	return len(started)
}

// TestFair_OneOwnersBacklogDoesNotStarveAnother: an owner submits ten thousand, all
// of which the sweeper looks for again; another's one job waits for the window and
// for what was under way, and nothing is lost or delivered for nothing.
func TestFair_OneOwnersBacklogDoesNotStarveAnother(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const concurrency = 10
		many := 10_000
		if strings.HasSuffix(t.Name(), "miniredis") { // which is slow
			many = 1_000
		}
		s := openShop(t, rdb, nil)
		all := s.submit("acme", many)
		backlog, err := s.queue.Backlog(s.ctx, s.provider)
		require.NoError(t, err)
		require.Equal(t, many-window, backlog.Total)
		require.Equal(t, map[string]int{jobs.OwnerHash("acme"): many - window}, backlog.ByOwner)

		for _, w := range all { // the sweeper's look, after wakeGrace
			w.Tries = 1
			standing, err := s.queue.Rewake(s.ctx, w)
			require.NoError(t, err)
			require.Equal(t, tasks.Waiting, standing)
		}
		info, err := s.inspector.GetQueueInfo(s.provider)
		require.NoError(t, err)
		require.Equal(t, window, info.Pending)

		stop := s.work(concurrency, time.Millisecond)
		defer stop()
		passed := len(s.untilStarted(200))
		s.submit("small", 1)
		submitted := s.count()
		started := s.untilStarted(many + 1)
		first := before(started, "small")
		t.Logf("%d of acme's had started when small submitted one; it started as number %d", submitted, first+1)
		require.GreaterOrEqual(t, first, passed)
		// The window, as much again for a filling on its way, and a turn.
		require.LessOrEqual(t, first-submitted, 2*window+concurrency)
		require.Zero(t, s.twice, "delivered for nothing")
		require.Len(t, s.seen, many+1)
		backlog, err = s.queue.Backlog(s.ctx, s.provider)
		require.NoError(t, err)
		require.Zero(t, backlog.Total)
		left, err := rdb.Keys(s.ctx, "oj:backlog:*").Result()
		require.NoError(t, err)
		require.Empty(t, left)
	})
}

// TestFair_Shares: of three owners with long lines each is served as often as its
// share says, and in the order its jobs came in.
func TestFair_Shares(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := openShop(t, rdb, map[string]int{"double": 2})
		s.submit("first", window) // takes the window
		for _, owner := range []string{"double", "one", "two"} {
			s.submit(owner, 200)
		}
		stop := s.work(1, 0)
		defer stop()
		counted := map[string]int{}
		for _, owner := range s.untilStarted(window + 200)[window : window+200] {
			counted[owner]++
		}
		require.InDelta(t, 100, counted["double"], window)
		require.InDelta(t, 50, counted["one"], window)
		require.InDelta(t, 50, counted["two"], window)
	})
}

// TestFair_NobodyIsOwedThePast: an owner who comes late shares from then on; he does not
// first get all the turns that were served before him.
func TestFair_NobodyIsOwedThePast(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := openShop(t, rdb, nil)
		s.submit("acme", 400)
		stop := s.work(1, 0)
		s.untilStarted(150)
		stop()
		s.submit("late", 100)
		from := s.count()
		stop = s.work(1, 0)
		defer stop()
		counted := map[string]int{}
		for _, owner := range s.untilStarted(from + window + 80)[from+window : from+window+80] {
			counted[owner]++
		}
		require.InDelta(t, 40, counted["acme"], window)
		require.InDelta(t, 40, counted["late"], window)
	})
}

// TestFair_NobodyOvertakesHisOwn: while somebody waits in a line, who comes later
// does not go straight to the queue, though there is room for a moment.
func TestFair_NobodyOvertakesHisOwn(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := openShop(t, rdb, nil)
		s.submit("acme", window+1)
		require.NoError(t, s.inspector.DeleteTask(s.provider, s.pendingIDs()[0])) // room
		s.submit("late", 1)
		require.Len(t, s.pendingIDs(), window-1)
		backlog, err := s.queue.Backlog(s.ctx, s.provider)
		require.NoError(t, err)
		require.Equal(t, map[string]int{jobs.OwnerHash("acme"): 1, jobs.OwnerHash("late"): 1}, backlog.ByOwner)
	})
}

func (s *shop) pendingIDs() []string {
	s.t.Helper()
	infos, err := s.inspector.ListPendingTasks(s.provider, asynq.PageSize(1000))
	require.NoError(s.t, err)
	ids := make([]string, len(infos))
	for i, info := range infos {
		ids[i] = info.ID
	}
	return ids
}

// TestFair_APausedQueue fills up to its window and no further; the rest waits in line
// until it is resumed.
func TestFair_APausedQueue(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := openShop(t, rdb, nil)
		s.submit("acme", 3*window)
		require.NoError(t, s.inspector.PauseQueue(s.provider))
		stop := s.work(2, 0)
		defer stop()
		require.Never(t, func() bool { return len(s.pendingIDs()) != window || s.count() > 0 }, 500*time.Millisecond, 50*time.Millisecond)
		require.NoError(t, s.inspector.UnpauseQueue(s.provider))
		s.untilStarted(3 * window)
	})
}

// TestFair_LostLines: what was lost with the lines is woken again like any lost
// wake-up; and a task an operator archived stays a hold.
func TestFair_LostLines(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := openShop(t, rdb, nil)
		all := s.submit("acme", window+2)
		held := jobs.AttemptID(all[0].JobID, 1)
		require.NoError(t, s.inspector.ArchiveTask(s.provider, held))
		keys, err := rdb.Keys(s.ctx, "oj:backlog:*").Result()
		require.NoError(t, err)
		require.NotEmpty(t, keys)
		require.NoError(t, rdb.Del(s.ctx, keys...).Err())
		found := map[tasks.Standing]int{}
		for _, w := range all {
			w.Tries = 1
			standing, err := s.queue.Rewake(s.ctx, w)
			require.NoError(t, err)
			found[standing]++
		}
		require.Equal(t, map[tasks.Standing]int{tasks.Held: 1, tasks.Waiting: window - 1, tasks.Woken: 2}, found)
		stop := s.work(2, 0)
		defer stop()
		s.untilStarted(window + 1)
	})
}

// TestFair_KeysOfAsynq: the scripts look at asynq's own keys, by their names.
func TestFair_KeysOfAsynq(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := openShop(t, rdb, nil)
		w := s.submit("acme", 1)[0]
		n, err := rdb.LLen(s.ctx, "asynq:{press}:pending").Result()
		require.NoError(t, err)
		require.Equal(t, int64(1), n)
		there, err := rdb.Exists(s.ctx, "asynq:{press}:t:"+jobs.AttemptID(w.JobID, 1)).Result()
		require.NoError(t, err)
		require.Equal(t, int64(1), there)
	})
}

// TestFair_CostsNothingWithoutABacklog: as long as there is room, waking costs the
// round trips it always did, but for a look now and then.
func TestFair_CostsNothingWithoutABacklog(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		scripts := 0
		rdb.AddHook(counter{&scripts, "evalsha"})
		plain := openDesk(t, rdb, "plain")
		require.NoError(t, plain.queue.Enqueue(plain.ctx, plain.wake))
		first := scripts
		s := openShop(t, rdb, nil)
		for i := range window / 2 {
			s.submit(fmt.Sprint("owner-", i), 1)
		}
		require.Equal(t, first+window/2*first+1, scripts, "one look, and asynq's own script for each")
	})
}

// counter counts commands of a name.
type counter struct {
	n    *int
	name string
}

func (c counter) DialHook(next redis.DialHook) redis.DialHook { return next }
func (c counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == c.name {
			*c.n++
		}
		return next(ctx, cmd)
	}
}

func (c counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
