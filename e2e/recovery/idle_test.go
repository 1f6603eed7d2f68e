package recovery_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// cpu is the processor time a process has used, from /proc: fields 14 and 15, in
// hundredths of a second.
func (p *process) cpu() time.Duration {
	p.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// TestIdle_Worker: most of what an idle worker costs is asynq's polling, which is
// what a short way from submit to call costs; it stays a few percent of a core.
func TestIdle_Worker(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{lease: "15s", beat: "5s"})
	worker := w.startWorker()
	w.pass(2 * time.Second)
	const watched = 10 * time.Second
	before := worker.cpu()
	w.pass(watched)
	share := float64(worker.cpu()-before) / float64(watched) * 100
	t.Logf("an idle worker with two providers uses %.1f %% of a core", share)
	require.Less(t, share, 15.0)
}

var calls = regexp.MustCompile(`calls=(\d+)`)

// commands counts what the server has been asked, by command.
func commands(ctx context.Context, t *testing.T, rdb *redis.Client) map[string]int {
	t.Helper()
	info, err := rdb.Info(ctx, "commandstats").Result()
	require.NoError(t, err)
	counted := map[string]int{}
	for line := range strings.Lines(info) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		if found := calls.FindStringSubmatch(rest); ok && found != nil && name != "info" {
			counted[name], _ = strconv.Atoi(found[1])
		}
	}
	return counted
}

// storeEnded stores n ended jobs, all copies of one.
func storeEnded(ctx context.Context, rdb *redis.Client, store *jobs.Store, n int) error {
	id, err := failJob(ctx, store, "model")
	if err != nil {
		return err
	}
	keys, err := rdb.Keys(ctx, "oj:{*}:job:"+id).Result()
	if err != nil {
		return err
	}
	record, err := rdb.HGetAll(ctx, keys[0]).Result()
	if err != nil {
		return err
	}
	flat := make([]string, 0, 2*len(record))
	for field, value := range record {
		flat = append(flat, field, value)
	}
	later := float64(time.Now().Add(time.Hour).UnixMilli())
	for begin := 0; begin < n; begin += 1000 {
		pipe := rdb.Pipeline()
		for i := begin; i < min(n, begin+1000); i++ {
			id, prefix := jobs.NewID("dev", fmt.Sprint(i)), fmt.Sprintf("oj:{%d}:", i%jobs.Partitions)
			pipe.HSet(ctx, prefix+"job:"+id, flat)
			pipe.ZAdd(ctx, prefix+"state:failed", redis.Z{Score: float64(i), Member: id})
			pipe.ZAdd(ctx, prefix+"due", redis.Z{Score: later, Member: "expire:" + id + ":x"})
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

const manyStored = 100_000

// TestIdle_SweepCostsTheSame: what a sweep asks of Redis when nothing is overdue
// does not depend on what is stored, to the very command.
func TestIdle_SweepCostsTheSame(t *testing.T) {
	needs(t)
	s := newServer(t)
	rdb := s.client(0)
	ctx := t.Context()
	store := jobs.NewStore(rdb, jobs.Options{})
	defer func() { require.NoError(t, store.Close()) }()
	sweeper := newSweeper(rdb, store)
	asks := func() map[string]int {
		require.NoError(t, sweeper.Sweep(ctx))
		require.NoError(t, rdb.ConfigResetStat(ctx).Err())
		for range 10 {
			require.NoError(t, sweeper.Sweep(ctx))
		}
		return commands(ctx, t, rdb)
	}
	empty := asks()
	require.NoError(t, storeEnded(ctx, rdb, store, manyStored))
	for len(due(ctx, t, store)) > 0 { // the model's ticket
		require.NoError(t, sweeper.Sweep(ctx))
	}
	full := asks()
	delete(empty, "config|resetstat")
	delete(full, "config|resetstat")
	require.Equal(t, empty, full)
	all := 0
	for _, n := range full {
		all += n
	}
	require.Equal(t, 10*jobs.Partitions, full["zrange"])
	require.Less(t, all-full["zrange"], 10*10, "and next to nothing else: %v", full)
}

func due(ctx context.Context, t *testing.T, store *jobs.Store) []int {
	t.Helper()
	overdue, _, err := store.Overdue(ctx)
	require.NoError(t, err)
	return overdue
}

// BenchmarkSweep is an idle sweep over what is stored; one is made each second.
func BenchmarkSweep(b *testing.B) {
	for _, stored := range []int{0, manyStored} {
		b.Run(fmt.Sprint(stored, " stored"), func(b *testing.B) {
			common.once.Do(startCommon)
			require.NoError(b, common.err)
			rdb := redis.NewClient(&redis.Options{Addr: common.addr, DB: int(common.next.Add(1))})
			defer func() { _ = rdb.Close() }()
			store := jobs.NewStore(rdb, jobs.Options{})
			defer func() { _ = store.Close() }()
			if stored > 0 {
				require.NoError(b, storeEnded(b.Context(), rdb, store, stored))
			}
			sweeper := newSweeper(rdb, store)
			require.NoError(b, sweeper.Sweep(b.Context()))
			for b.Loop() {
				require.NoError(b, sweeper.Sweep(b.Context()))
			}
		})
	}
}
