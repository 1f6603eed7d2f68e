package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

func seedOf(text string) int64 {
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return rand.Int64N(1_000_000_000)
	}
	return seed
}

const jobsEnv = "ONEJOB_CHAOS_JOBS"

// sizes are the jobs and faults of a run. Faults go with the jobs, and from a hundred
// thousand on are as many as there.
func sizes(t *testing.T) (int, quotas) {
	t.Helper()
	n := 5000
	if text := os.Getenv(jobsEnv); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err, jobsEnv)
		require.GreaterOrEqual(t, n, 100, jobsEnv+": too few jobs for a fault of each kind")
	}
	if n >= 100_000 {
		return n, quotas{
			WorkerKill: 500, WorkerTerm: 100, WorkerPause: 100, APIKill: 200, APITerm: 50, APIPause: 20,
			RedisKill: 100, RedisPause: 20, ProviderKill: 50, Toxic: 200,
		}
	}
	share := func(of5000 int) int { return max(1, of5000*n/5000) }
	return n, quotas{
		WorkerKill: share(40), WorkerTerm: share(10), WorkerPause: share(10), APIKill: share(20), APITerm: share(5), APIPause: share(3),
		RedisKill: share(10), RedisPause: share(3), ProviderKill: share(4), Toxic: share(20),
	}
}

func TestChaos(t *testing.T) { //nolint:paralleltest // it wants the machine to itself
	if testing.Short() {
		t.Skip("runs for minutes")
	}
	redistest.Require(t)
	n, q := sizes(t)
	seed := seedOf(os.Getenv(seedEnv))
	again := fmt.Sprintf("make chaos SEED=%d JOBS=%d", seed, n)
	fmt.Fprintf(os.Stderr, "chaos: seed %d, %d jobs; again: %s\n", seed, n, again)
	program.Onejob(t) // the time is for the run
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Duration(n)*30*time.Millisecond)
	defer cancel()

	w := newWorld(t, seed)
	w.ready(ctx)
	f := &figures{Seed: seed, Jobs: n, Again: again}
	w.trouble(ctx, f, q)
	f.clock("read")
	stories := w.collect(ctx, n)
	f.clock("checked")
	w.verdict(stories, n)
	f.count(stories)
	w.tellOfLongest(f)
	f.clock("stopped")
	w.stop(ctx)
	f.print(t)
	require.Empty(t, f.hollow(), "the run shows too little (seed %d)", seed)
}

// trouble submits the jobs under the planned faults, and returns when all have ended.
func (w *world) trouble(ctx context.Context, f *figures, q quotas) {
	w.t.Helper()
	plan, l, o := w.planned(q), &load{jobs: f.Jobs}, &overseer{w: w}
	watching, enough := context.WithCancel(ctx)
	var aside, faults sync.WaitGroup
	aside.Go(func() { o.run(watching) })
	aside.Go(func() { w.progress(watching, l, plan, o) })
	aside.Go(func() { l.watch(watching, w) })
	f.clock("submitted")
	for _, k := range plan {
		faults.Go(func() { k.fire(ctx, l) })
	}
	w.submitAll(ctx, l, plan)
	faults.Wait()
	f.faults(plan, w)
	f.clock("settled")
	w.ready(ctx)
	o.hurry.Store(true)
	w.settle(ctx)
	enough()
	aside.Wait()
}

// progress says every ten seconds how far the run is.
func (w *world) progress(ctx context.Context, l *load, plan []*kind, o *overseer) {
	for began := time.Now(); rest(ctx, 10*time.Second); {
		line := fmt.Sprintf("chaos %v: %d of %d jobs, %d resolved", time.Since(began).Round(time.Second), l.submitted.Load(), l.jobs, o.resolved.Load())
		if o.hurry.Load() {
			fmt.Fprintln(os.Stderr, line+", waiting for the rest to end")
			continue
		}
		for _, k := range plan {
			line += fmt.Sprintf(", %s %d/%d", k.name, k.fired.Load(), len(k.plan))
		}
		fmt.Fprintln(os.Stderr, line)
	}
}

// stop ends everything as an operator does, and has what is left checked: the queues
// are empty, the indexes agree with the records (I11).
func (w *world) stop(ctx context.Context) {
	w.t.Helper()
	require.NoError(w.t, w.queuesEmpty(ctx))
	for _, p := range w.onejobs() {
		require.NoError(w.t, p.stop(ctx))
	}
	out, err := exec.CommandContext(ctx, w.bin, "fsck", "--config", w.fsckConfig).CombinedOutput()
	require.NoError(w.t, err, "I11: %s (seed %d)", out, w.seed)
	w.t.Logf("fsck: %s", out)
	require.NoError(w.t, w.logsClean())
}
