package powercut_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/witness"
	"onejob/jobs"
)

// cuts is how many times the power is cut of one run; ONEJOB_CUTS says otherwise.
const cuts = 2

// callers submit jobs all the time, and a burst of them comes right before a cut.
const (
	callers = 6
	burst   = 30
)

func number(name string, otherwise uint64) uint64 {
	n, err := strconv.ParseUint(os.Getenv(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// run is one Redis whose power is cut again and again.
type run struct {
	t     *testing.T
	ctx   context.Context
	dice  *rand.Rand
	srv   *server
	seen  *witness.Witness
	load  *witness.Load
	fleet *witness.Fleet
	store *jobs.Store
}

func begin(t *testing.T, fsync, durability string) (*run, int) {
	t.Helper()
	needStrace(t)
	seed := number("ONEJOB_SEED", rand.Uint64N(1_000_000))
	n := int(number("ONEJOB_CUTS", cuts))
	t.Logf("appendfsync %s, %d cuts, seed %d; again: make powercut CUTS=%d SEED=%d", fsync, n, seed, n, seed)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(n)*time.Minute)
	r := &run{t: t, ctx: ctx, dice: rand.New(rand.NewPCG(seed, 0))}
	press := witness.NewPress(t)
	r.srv = newServer(t, fsync)
	r.seen = witness.New(press)
	r.fleet = witness.Start(t, fmt.Sprintf(`{url: "redis://%s/0", durability: %s}`, r.srv.addr(), durability), press, 1, 2)
	r.store = jobs.NewStore(r.srv.rdb, jobs.Options{})
	r.load = &witness.Load{Witness: r.seen, APIs: r.fleet.APIs, Seed: seed, Pause: 20 * time.Millisecond}
	t.Cleanup(func() {
		cancel()
		r.load.Close()
		_ = r.store.Close()
	})
	return r, n
}

// cut has jobs submitted, cuts the power in the middle of it, and waits until
// everything has come to rest.
func (r *run) cut() (bytes int64, v witness.Verdict, rewound map[int]bool) {
	r.t.Helper()
	stop := r.load.Start(r.ctx, callers)
	defer stop()
	r.wait(300*time.Millisecond + time.Duration(r.dice.Int64N(int64(1200*time.Millisecond))))
	r.load.Burst(r.ctx, burst)
	r.seen.Turn()
	bytes = r.srv.cutPower()
	r.srv.start()
	r.seen.Turn()
	r.fleet.Ready(r.ctx)
	r.wait(500 * time.Millisecond)
	stop()
	return bytes, r.judged(), r.fleet.Rewound(r.ctx)
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

// With appendfsync always nothing that was acknowledged is lost, and nobody thinks so.
func TestPowerCut_Always(t *testing.T) {
	t.Parallel()
	r, n := begin(t, "always", "fsync")
	for i := range n {
		bytes, v, rewound := r.cut()
		t.Logf("cut %d: %d bytes of the file; %d jobs on record, %v", i+1, bytes, v.Jobs, v.States)
		require.Empty(t, v.Lost, "I1: acknowledged, and lost")
		require.Empty(t, v.Lapsed, "sent, and on no record")
		require.Empty(t, rewound, "store_rewound was raised for nothing")
	}
	r.fleet.Fsck(r.ctx)
}

// With everysec acknowledged jobs are lost, and nothing else is: every cut is noticed
// by who knew more, and what may have been sent is not sent again.
func TestPowerCut_Everysec(t *testing.T) {
	t.Parallel()
	r, n := begin(t, "everysec", "any")
	lost := 0
	for done, i := 0, 0; done < n; i++ {
		require.Less(t, i, 2*n, "too many cuts lose nothing to show anything")
		bytes, v, rewound := r.cut()
		t.Logf("cut %d: %d bytes of the file; %d acknowledged jobs lost, %d calls of lost attempts so far, %d partitions rewound; %d jobs on record, %v",
			i+1, bytes, len(v.Lost), len(v.Lapsed), len(rewound), v.Jobs, v.States)
		if len(v.Lost) == 0 {
			t.Log("nothing acknowledged was lost: not counted")
			continue
		}
		done++
		lost += len(v.Lost)
		r.noticed(v.Lost, rewound)
	}
	r.judged() // the jobs that were submitted again, too
	r.fleet.Fsck(r.ctx)
	t.Logf("%d acknowledged jobs lost in %d cuts", lost, n)
}

// noticed: for every lost job store_rewound was raised in its partition. Its caller
// submits it again, and it is another job.
func (r *run) noticed(lost []string, rewound map[int]bool) {
	r.t.Helper()
	keys := r.seen.Acknowledged()
	for _, id := range lost {
		require.True(r.t, rewound[witness.PartitionOf(id)], "%s was lost and nobody noticed", id)
		r.seen.Forget(id)
		require.NotContains(r.t, []string{"", id}, r.load.Again(r.ctx, keys[id]))
	}
}
