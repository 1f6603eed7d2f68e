package powercut_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/witness"
)

// cuts is how many times the power is cut of one run; ONEJOB_CUTS says otherwise.
const cuts = 2

// callers submit jobs all the time, and a burst of them comes right before a cut.
const (
	callers = 6
	burst   = 30
)

// run is one Redis whose power is cut again and again.
type run struct {
	*witness.Trial
	srv *server
}

func begin(t *testing.T, fsync, durability string) (*run, int) {
	t.Helper()
	needStrace(t)
	seed := witness.Number("ONEJOB_SEED", rand.Uint64N(1_000_000))
	n := int(witness.Number("ONEJOB_CUTS", cuts))
	t.Logf("appendfsync %s, %d cuts, seed %d; again: make powercut CUTS=%d SEED=%d", fsync, n, seed, n, seed)
	srv := newServer(t, fsync)
	return &run{srv: srv, Trial: witness.Begin(t, witness.Setting{
		Seed: seed, Limit: time.Minute + time.Duration(n)*time.Minute, Client: srv.rdb,
		Redis: fmt.Sprintf(`{url: "redis://%s/0", durability: %s}`, srv.addr(), durability),
		APIs:  1, Workers: 2, Pause: 20 * time.Millisecond,
	})}, n
}

// cut has jobs submitted, cuts the power in the middle of it, and waits until
// everything has come to rest.
func (r *run) cut() (bytes int64, v witness.Verdict, rewound map[int]bool) {
	r.T.Helper()
	stop := r.Load.Start(r.Ctx, callers)
	defer stop()
	r.Wait(300 * time.Millisecond)
	r.WaitAbout(1200 * time.Millisecond)
	r.Load.Burst(r.Ctx, burst)
	r.Seen.Turn()
	bytes = r.srv.cutPower()
	r.srv.start()
	r.Seen.Turn()
	r.Fleet.Ready(r.Ctx)
	r.Wait(500 * time.Millisecond)
	stop()
	return bytes, r.Judged(), r.Fleet.Rewound(r.Ctx)
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
	r.Fleet.Fsck(r.Ctx)
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
	r.Judged() // the jobs that were submitted again, too
	r.Fleet.Fsck(r.Ctx)
	t.Logf("%d acknowledged jobs lost in %d cuts", lost, n)
}

// noticed: for every lost job store_rewound was raised in its partition. Its caller
// submits it again, and it is another job.
func (r *run) noticed(lost []string, rewound map[int]bool) {
	r.T.Helper()
	keys := r.Seen.Acknowledged()
	for _, id := range lost {
		require.True(r.T, rewound[witness.PartitionOf(id)], "%s was lost and nobody noticed", id)
		r.Seen.Forget(id)
		require.NotContains(r.T, []string{"", id}, r.Load.Again(r.Ctx, keys[id]))
	}
}
