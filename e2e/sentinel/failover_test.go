package sentinel_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/witness"
)

// failovers is how many there are; ONEJOB_FAILOVERS says otherwise.
const failovers = 1

const callers = 6

// run is one set of servers that fails over again and again.
type run struct {
	*witness.Trial
	redis *servers
}

func begin(t *testing.T) (*run, int) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	seed := witness.Number("ONEJOB_SEED", rand.Uint64N(1_000_000))
	n := int(witness.Number("ONEJOB_FAILOVERS", failovers))
	t.Logf("%d failovers, seed %d; again: make failovers FAILOVERS=%d SEED=%d", n, seed, n, seed)
	servers := startServers(t)
	servers.awaitWhole(t.Context())
	return &run{redis: servers, Trial: witness.Begin(t, witness.Setting{
		Seed: seed, Limit: 2*time.Minute + time.Duration(n)*time.Minute, Client: servers.rdb,
		Redis: fmt.Sprintf("{url: %q, wait_replicas: 1}", servers.url()),
		APIs:  2, Workers: 2, Pause: 60 * time.Millisecond,
	})}, n
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
	r.T.Helper()
	require.NoError(r.T, old.rdb.ConfigSet(r.Ctx, "min-replicas-to-write", "0").Err())
	replicas := func(sig syscall.Signal) {
		for _, other := range r.redis.data {
			if other != old {
				other.signal(sig)
			}
		}
	}
	replicas(syscall.SIGSTOP)
	defer replicas(syscall.SIGCONT)
	require.NoError(r.T, old.rdb.ClientKillByFilter(r.Ctx, "TYPE", "replica").Err())
	r.Load.Burst(r.Ctx, burst)
	old.process.Kill()
}

// failover loses the master in the middle of load, has it come back after another has
// taken its place, and waits until everything has come to rest.
func (r *run) failover(way way) (v witness.Verdict, rewound map[int]bool) {
	r.T.Helper()
	old := r.redis.leader(r.Ctx)
	require.NotNil(r.T, old)
	stop := r.Load.Start(r.Ctx, callers)
	defer stop()
	r.Wait(300 * time.Millisecond)
	r.WaitAbout(1200 * time.Millisecond)
	r.Seen.Turn()
	way.leave(r, old)
	r.redis.awaitFailover(r.Ctx, old)
	r.WaitAbout(time.Second)
	way.back(old)
	r.redis.awaitWhole(r.Ctx)
	r.Seen.Turn()
	r.Fleet.Ready(r.Ctx)
	r.Wait(300 * time.Millisecond)
	stop()
	return r.Judged(), r.Fleet.Rewound(r.Ctx)
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
		keys := r.Seen.Acknowledged()
		for _, id := range v.Lost {
			require.True(t, rewound[witness.PartitionOf(id)], "%s was lost and nobody noticed", id)
			r.Seen.Forget(id)
			require.NotContains(t, []string{"", id}, r.Load.Again(r.Ctx, keys[id]))
		}
		require.True(t, !way.loses || len(v.Lost) > 0, "nothing was lost: it shows nothing")
		lost += len(v.Lost)
	}
	r.Judged() // the jobs that were submitted again, too
	r.Fleet.Fsck(r.Ctx)
	t.Logf("%d acknowledged jobs lost in %d failovers, all of them noticed", lost, n)
}
