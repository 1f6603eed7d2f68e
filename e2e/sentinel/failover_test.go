package sentinel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/witness"
	"onejob/jobs"
)

// failovers is how many there are; ONEJOB_FAILOVERS says otherwise.
const failovers = 1

const callers = 6

func number(name string, otherwise uint64) uint64 {
	n, err := strconv.ParseUint(os.Getenv(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// run is one set of servers that fails over again and again.
type run struct {
	t     *testing.T
	ctx   context.Context
	dice  *rand.Rand
	redis *servers
	seen  *witness.Witness
	load  *witness.Load
	fleet *witness.Fleet
	store *jobs.Store
}

func begin(t *testing.T) (*run, int) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	seed := number("ONEJOB_SEED", rand.Uint64N(1_000_000))
	n := int(number("ONEJOB_FAILOVERS", failovers))
	t.Logf("%d failovers, seed %d; again: make failovers FAILOVERS=%d SEED=%d", n, seed, n, seed)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+time.Duration(n)*time.Minute)
	r := &run{t: t, ctx: ctx, dice: rand.New(rand.NewPCG(seed, 0)), redis: startServers(t)}
	r.redis.awaitWhole(ctx)
	press := witness.NewPress(t)
	r.seen = witness.New(press)
	r.fleet = witness.Start(t, fmt.Sprintf("{url: %q, wait_replicas: 1}", r.redis.url()), press, 2, 2)
	r.store = jobs.NewStore(r.redis.rdb, jobs.Options{})
	r.load = &witness.Load{Witness: r.seen, APIs: r.fleet.APIs, Seed: seed, Pause: 60 * time.Millisecond}
	t.Cleanup(func() {
		cancel()
		r.load.Close()
		_ = r.store.Close()
	})
	return r, n
}

// way is how a master goes away and comes back.
type way struct {
	name  string
	leave func(*run, *server)
	back  func(*server)
	loses bool // what it acknowledged last is lost in all cases
}

var ways = []way{
	{"cut off from its replicas, then killed", (*run).cutOff, restart, true},
	// It wakes up as the master it was, with all its connections.
	{"stopped", func(_ *run, s *server) { s.signal(syscall.SIGSTOP) }, func(s *server) { s.signal(syscall.SIGCONT) }, false},
	{"killed", func(_ *run, s *server) { s.process.Kill() }, restart, false},
}

func restart(s *server) { s.start() }

// burst is how many jobs a master acknowledges that has been cut off.
const burst = 20

// cutOff has the master go on for a moment without its replicas, against the setting
// that keeps it from that, and then kills it.
func (r *run) cutOff(old *server) {
	r.t.Helper()
	require.NoError(r.t, old.rdb.ConfigSet(r.ctx, "min-replicas-to-write", "0").Err())
	replicas := func(sig syscall.Signal) {
		for _, other := range r.redis.data {
			if other != old {
				other.signal(sig)
			}
		}
	}
	replicas(syscall.SIGSTOP)
	defer replicas(syscall.SIGCONT)
	require.NoError(r.t, old.rdb.ClientKillByFilter(r.ctx, "TYPE", "replica").Err())
	r.load.Burst(r.ctx, burst)
	old.process.Kill()
}

// failover loses the master in the middle of load, has it come back after another has
// taken its place, and waits until everything has come to rest.
func (r *run) failover(way way) (v witness.Verdict, rewound map[int]bool) {
	r.t.Helper()
	old := r.redis.leader(r.ctx)
	require.NotNil(r.t, old)
	stop := r.load.Start(r.ctx, callers)
	defer stop()
	r.wait(300*time.Millisecond + time.Duration(r.dice.Int64N(int64(1200*time.Millisecond))))
	r.seen.Turn()
	way.leave(r, old)
	r.redis.awaitFailover(r.ctx, old)
	r.wait(time.Duration(r.dice.Int64N(int64(time.Second))))
	way.back(old)
	r.redis.awaitWhole(r.ctx)
	r.seen.Turn()
	r.fleet.Ready(r.ctx)
	r.wait(300 * time.Millisecond)
	stop()
	return r.judged(), r.fleet.Rewound(r.ctx)
}

func (r *run) judged() witness.Verdict {
	r.t.Helper()
	witness.Settled(r.ctx, r.t, r.store)
	v, err := r.seen.Judge(r.ctx, r.store)
	require.NoError(r.t, err)
	require.NoError(r.t, v.Err())
	return v
}

func (r *run) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.ctx.Done():
	}
}

// No failover has a job sent twice, and what one lost is noticed: store_rewound is
// raised in the partition of every acknowledged job that is gone.
func TestSentinel_Failovers(t *testing.T) {
	t.Parallel()
	r, n := begin(t)
	lost := 0
	for i := range n {
		way := ways[i%len(ways)]
		v, rewound := r.failover(way)
		t.Logf("failover %d, master %s: %d acknowledged jobs lost, %d calls of lost attempts so far, %d partitions rewound; %d jobs on record, %v",
			i+1, way.name, len(v.Lost), len(v.Lapsed), len(rewound), v.Jobs, v.States)
		keys := r.seen.Acknowledged()
		for _, id := range v.Lost {
			require.True(t, rewound[witness.PartitionOf(id)], "%s was lost and nobody noticed", id)
			r.seen.Forget(id)
			require.NotContains(t, []string{"", id}, r.load.Again(r.ctx, keys[id]))
		}
		require.True(t, !way.loses || len(v.Lost) > 0, "nothing was lost: it shows nothing")
		lost += len(v.Lost)
	}
	r.judged() // the jobs that were submitted again, too
	r.fleet.Fsck(r.ctx)
	t.Logf("%d acknowledged jobs lost in %d failovers, all of them noticed", lost, n)
}
