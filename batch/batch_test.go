package batch_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/batch"
	"onejob/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var echo = redis.NewScript(`return { ARGV[1], redis.call('INCR', KEYS[1]) }`)

// wire is a connection that tells what is written to it, and holds back what comes
// while it is held.
type wire struct {
	net.Conn
	wrote func(net.Conn, []byte)
	hold  *sync.RWMutex // locked: held
	dead  *atomic.Value // the connection whose answers are lost; nil: none's
}

func (w wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.wrote(w.Conn, b)
	return n, err
}

func (w wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.hold.RLock()
	defer w.hold.RUnlock()
	if w.dead != nil && w.dead.Load() == w.Conn {
		return 0, net.ErrClosed
	}
	return n, err
}

// wired is a client like rdb over such connections.
func wired(t *testing.T, rdb *redis.Client, w wire) *redis.Client {
	t.Helper()
	options, dialer := redis.Options{Addr: rdb.Options().Addr, DB: rdb.Options().DB}, net.Dialer{}
	options.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, addr)
		own := w
		own.Conn = conn
		return own, err
	}
	client := redis.NewClient(&options)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// TestScriptsGoTogether: of many at once each gets its own answer and runs once, and
// they take fewer writes than there are scripts. The first finds that the server
// does not know it, as after a restart.
func TestScriptsGoTogether(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		var writes atomic.Int64
		var first sync.Once
		carrier := wired(t, rdb, wire{hold: new(sync.RWMutex), wrote: func(_ net.Conn, b []byte) {
			if bytes.Contains(b, []byte("evalsha")) {
				writes.Add(1)
				first.Do(func() { <-time.After(200 * time.Millisecond) }) // meanwhile the others come
			}
		}})
		scripts, err := batch.New(carrier, nil)
		require.NoError(t, err)
		require.NoError(t, rdb.ScriptFlush(t.Context()).Err())
		const many = 500
		answers := make([][]any, many)
		errs := make([]error, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				answers[i], errs[i] = echo.Run(t.Context(), scripts, []string{"count"}, fmt.Sprint(i)).Slice()
			})
		}
		all.Wait()
		ran := map[int64]bool{}
		for i := range many {
			require.NoError(t, errs[i])
			require.Equal(t, fmt.Sprint(i), answers[i][0])
			require.False(t, ran[answers[i][1].(int64)], "each runs once")
			ran[answers[i][1].(int64)] = true
		}
		require.Len(t, ran, many)
		count, err := rdb.Get(t.Context(), "count").Int()
		require.NoError(t, err)
		require.Equal(t, many, count, "each runs once, also where the answer is its own")
		require.Less(t, writes.Load(), int64(many/2))
	})
}

// TestConnectionsAreShownFirst: those that carry batches, too, go through OnConnect,
// which keeps verbs from a store that went back in time (design §3).
func TestConnectionsAreShownFirst(t *testing.T) {
	t.Parallel()
	options := redis.Options{Addr: redistest.Mini(t).Options().Addr}
	refused := fmt.Errorf("not to be used")
	var refuse atomic.Bool
	refuse.Store(true)
	options.OnConnect = func(context.Context, *redis.Conn) error {
		if refuse.Load() {
			return refused
		}
		return nil
	}
	rdb := redis.NewClient(&options)
	defer func() { require.NoError(t, rdb.Close()) }()
	scripts, err := batch.New(rdb, nil)
	require.NoError(t, err)
	require.ErrorIs(t, echo.Run(t.Context(), scripts, []string{"count"}, "a").Err(), refused)
	refuse.Store(false)
	// Others that came while no connection was to be had are refused with it.
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		answer, err := echo.Run(context.Background(), scripts, []string{"count"}, "b").Slice()
		require.NoError(t, err)
		require.Equal(t, int64(1), answer[1], "the refused ones have not run")
	}, 10*time.Second, time.Millisecond)
}

// TestNobodyWaitsLongerThanHeWants: a Redis that takes commands and says nothing
// holds up a caller until his context ends, no longer.
func TestNobodyWaitsLongerThanHeWants(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	})
	rdb := redis.NewClient(&redis.Options{Addr: silent.Addr().String(), ReadTimeout: 2 * time.Second, MaxRetries: -1})
	defer func() {
		_ = silent.Close()
		open.Wait()
		require.NoError(t, rdb.Close())
	}()
	watch := &counting{seen: map[string]int{}}
	scripts, err := batch.New(rdb, watch)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	require.ErrorIs(t, echo.Run(ctx, scripts, []string{"count"}, "a").Err(), context.DeadlineExceeded)
	require.Less(t, time.Since(began), time.Second)
	require.Equal(t, 1, watch.seen["evalsha"], "it is seen though nobody waits for it")
}

// TestNewRefuses a client that cannot gather commands.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{}})
	defer func() { require.NoError(t, ring.Close()) }()
	_, err := batch.New(ring, nil)
	require.ErrorContains(t, err, "gathering commands")
}

// TestNobodyWaitsForThoseBefore: a script goes out while the answer to another is not
// there yet.
func TestNobodyWaitsForThoseBefore(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		var hold sync.RWMutex
		sent := make(chan string, 2)
		carrier := wired(t, rdb, wire{hold: &hold, wrote: func(_ net.Conn, b []byte) {
			for _, word := range []string{"one of them", "the other"} {
				if bytes.Contains(b, []byte(word)) {
					sent <- word
				}
			}
		}})
		scripts, err := batch.New(carrier, nil)
		require.NoError(t, err)
		require.NoError(t, echo.Run(t.Context(), scripts, []string{"count"}, "known").Err())

		hold.Lock()
		answers := make(chan error, 2)
		for _, word := range []string{"one of them", "the other"} {
			go func() { answers <- echo.Run(t.Context(), scripts, []string{"count"}, word).Err() }()
			select {
			case came := <-sent:
				require.Equal(t, word, came)
			case <-time.After(10 * time.Second):
				hold.Unlock()
				t.Fatalf("%q waits for an answer to others", word)
			}
		}
		hold.Unlock()
		require.NoError(t, <-answers)
		require.NoError(t, <-answers)
	})
}

// TestCluster: there is a connection to each master, and every script finds the one
// that has its key.
func TestCluster(t *testing.T) {
	t.Parallel()
	rdb := redistest.Cluster(t)
	watch := &counting{seen: map[string]int{}}
	scripts, err := batch.New(rdb, watch)
	require.NoError(t, err)
	const slots, each = 64, 8
	answers := make([][]any, slots*each)
	errs := make([]error, slots*each)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i], errs[i] = echo.Run(t.Context(), scripts, []string{fmt.Sprintf("{%d}:count", i%slots)}, fmt.Sprint(i)).Slice()
		})
	}
	all.Wait()
	for i := range answers {
		require.NoError(t, errs[i])
		require.Equal(t, fmt.Sprint(i), answers[i][0])
	}
	watch.Lock()
	require.Equal(t, slots*each, watch.seen["evalsha"], "each is seen once")
	watch.Unlock()
	for slot := range slots {
		ran, err := rdb.Get(t.Context(), fmt.Sprintf("{%d}:count", slot)).Int()
		require.NoError(t, err)
		require.Equal(t, each, ran, "each runs once")
	}
}

// TestSentAgain: what was not answered when the connection broke is sent again over
// another, so it may have run before. Each gets its own answer all the same, and none
// runs more often than it is tried.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const many, tries = 100, 4 // go-redis's own: once, and MaxRetries
		var hold sync.RWMutex
		var dead atomic.Value
		var sent atomic.Int64
		held := make(chan net.Conn, 1)
		carrier := wired(t, rdb, wire{hold: &hold, dead: &dead, wrote: func(conn net.Conn, b []byte) {
			if sent.Add(int64(bytes.Count(b, []byte("one of many")))) >= many {
				select {
				case held <- conn:
				default:
				}
			}
		}})
		scripts, err := batch.New(carrier, nil)
		require.NoError(t, err)
		require.NoError(t, echo.Run(t.Context(), scripts, []string{"count"}, "known").Err())

		hold.Lock()
		answers, errs := make([][]any, many), make([]error, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				answers[i], errs[i] = echo.Run(t.Context(), scripts, []string{"count"}, fmt.Sprint("one of many ", i)).Slice()
			})
		}
		select {
		case conn := <-held:
			dead.Store(conn) // with what has come and was not looked at yet
			require.NoError(t, conn.Close())
		case <-time.After(10 * time.Second):
			t.Error("not all were sent")
		}
		hold.Unlock()
		all.Wait()
		for i := range many {
			require.NoError(t, errs[i])
			require.Equal(t, fmt.Sprint("one of many ", i), answers[i][0])
		}
		count, err := rdb.Get(t.Context(), "count").Int()
		require.NoError(t, err)
		require.GreaterOrEqual(t, count, 1+many)
		require.LessOrEqual(t, count, 1+many*tries)
		require.Greater(t, sent.Load(), int64(many), "nothing was sent again")
	})
}

// TestCluster_ASlotThatHasMoved: a script follows its key to another master.
func TestCluster_ASlotThatHasMoved(t *testing.T) {
	t.Parallel()
	rdb := redistest.Cluster(t)
	watch := &counting{seen: map[string]int{}}
	scripts, err := batch.New(rdb, watch)
	require.NoError(t, err)
	key := []string{"{wanders}:count"}
	require.NoError(t, echo.Run(t.Context(), scripts, key, "known").Err())
	require.NoError(t, rdb.Del(t.Context(), key[0]).Err()) // an empty slot needs no migration

	slot, err := rdb.ClusterKeySlot(t.Context(), key[0]).Result()
	require.NoError(t, err)
	was, err := rdb.MasterForKey(t.Context(), key[0])
	require.NoError(t, err)
	owner, err := was.Do(t.Context(), "CLUSTER", "MYID").Text()
	require.NoError(t, err)
	var other string
	require.NoError(t, each(t, rdb, func(node *redis.Client) error {
		id, err := node.Do(t.Context(), "CLUSTER", "MYID").Text()
		if id != owner {
			other = id
		}
		return err
	}))
	move := func(to string) {
		require.NoError(t, each(t, rdb, func(node *redis.Client) error {
			return node.Do(context.Background(), "CLUSTER", "SETSLOT", slot, "NODE", to).Err()
		}))
	}
	move(other)
	t.Cleanup(func() { // the next test has this Cluster
		require.NoError(t, rdb.Del(context.Background(), key[0]).Err())
		move(owner)
	})
	answer, err := echo.Run(t.Context(), scripts, key, "moved").Slice()
	require.NoError(t, err)
	require.Equal(t, []any{"moved", int64(1)}, answer)
	watch.Lock()
	defer watch.Unlock()
	require.Equal(t, 2, watch.seen["evalsha"], "each is seen once")
}

// each does something at every master, one after the other.
func each(t *testing.T, rdb *redis.ClusterClient, do func(*redis.Client) error) error {
	t.Helper()
	var one sync.Mutex
	return rdb.ForEachMaster(context.Background(), func(_ context.Context, node *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		return do(node)
	})
}

// counting counts what it is shown, by name.
type counting struct {
	sync.Mutex
	seen map[string]int
}

func (c *counting) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		defer c.count(cmd)
		return next(ctx, cmd)
	}
}

func (c *counting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		defer c.count(cmds...)
		return next(ctx, cmds)
	}
}

func (c *counting) count(cmds ...redis.Cmder) {
	c.Lock()
	defer c.Unlock()
	for _, cmd := range cmds {
		c.seen[cmd.Name()]++
	}
}

// TestWatchSeesEachOnce: scripts and all else, whichever way they go.
func TestWatchSeesEachOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		watch := &counting{seen: map[string]int{}}
		scripts, err := batch.New(wired(t, rdb, wire{hold: new(sync.RWMutex), wrote: func(net.Conn, []byte) {}}), watch)
		require.NoError(t, err)
		require.NoError(t, rdb.ScriptFlush(t.Context()).Err())
		require.NoError(t, echo.Run(t.Context(), scripts, []string{"count"}, "a").Err()) // unknown, so sent whole
		require.NoError(t, echo.Run(t.Context(), scripts, []string{"count"}, "b").Err())
		require.NoError(t, scripts.Get(t.Context(), "count").Err())
		watch.Lock()
		defer watch.Unlock()
		require.Equal(t, 2, watch.seen["evalsha"])
		require.Equal(t, 1, watch.seen["eval"])
		require.Equal(t, 1, watch.seen["get"])
	})
}
