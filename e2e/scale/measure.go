package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"onejob/e2e/process"

	"github.com/redis/go-redis/v9"
)

// measure tells what this machine can, in rounds whose medians count.
func measure(ctx context.Context, s settings) error {
	dir, err := os.MkdirTemp("", "onejob-scale-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "onejob")
	if out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "onejob/cmd/onejob").CombinedOutput(); err != nil {
		return fmt.Errorf("building onejob: %w\n%s", err, out)
	}
	m := &measured{}
	if s.only != "" {
		if m, err = readMeasured(s.measured); err != nil {
			return err
		}
	}
	m.At, m.Cores = time.Now().UTC().Format(time.RFC3339), runtime.NumCPU()
	for _, one := range []struct {
		name    string
		masters int
		run     func(context.Context, *stand, settings, *measured) error
	}{
		{"whole-single", 1, func(ctx context.Context, at *stand, s settings, m *measured) error {
			return m.bytes(ctx, at, s, &m.Single)
		}},
		{"whole-cluster", 3, func(ctx context.Context, at *stand, s settings, m *measured) (err error) {
			m.Cluster, err = wholeJobs(ctx, at, s, queueNames(3)[:1])
			return err
		}},
		{"whole-spread", 3, func(ctx context.Context, at *stand, s settings, m *measured) (err error) {
			m.Spread, err = wholeJobs(ctx, at, s, queueNames(3))
			return err
		}},
		{"verbs-single", 1, func(ctx context.Context, at *stand, s settings, m *measured) (err error) {
			m.StoreSingle, err = storeVerbs(ctx, at, s)
			return err
		}},
		{"verbs-cluster", 3, func(ctx context.Context, at *stand, s settings, m *measured) (err error) {
			m.StoreCluster, err = storeVerbs(ctx, at, s)
			return err
		}},
		{"publishing", 3, measurePublish},
		{"sweeping", 1, measureSweep},
		{"polling", 1, measurePoll},
	} {
		if s.only != "" && !slices.Contains(strings.Split(s.only, ","), one.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, one.name)
		if err := alone(ctx, binary, one.masters, func(at *stand) error { return one.run(ctx, at, s, m) }); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	if m.FsyncMicros, err = fsyncMicros(dir); err != nil {
		return err
	}
	return m.write(s.measured)
}

// alone gives a measurement a Redis of its own.
func alone(ctx context.Context, binary string, masters int, run func(*stand) error) error {
	at, err := newStand(ctx, binary, masters)
	if err != nil {
		return err
	}
	defer at.close()
	return run(at)
}

// bytes measures whole jobs on one Redis, and what they leave behind there.
func (m *measured) bytes(ctx context.Context, at *stand, s settings, to *whole) error {
	info, err := at.rdb.Info(ctx, "server").Result()
	if err != nil {
		return fmt.Errorf("asking Redis: %w", err)
	}
	m.Redis = field(info, "redis_version")
	if *to, err = wholeJobs(ctx, at, s, []string{"press-0"}); err != nil {
		return err
	}
	// Once more, to weigh: the rounds empty the store between them.
	heavy := func() (memory, log float64, err error) {
		info, err := at.rdb.Info(ctx, "memory", "persistence").Result()
		return number(info, "used_memory"), number(info, "aof_current_size"), err
	}
	if err := at.rdb.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("emptying Redis: %w", err)
	}
	memory, log, err := heavy()
	if err != nil {
		return fmt.Errorf("asking Redis: %w", err)
	}
	n, _, err := oneRound(ctx, at, s, []string{"press-0"})
	if err != nil {
		return err
	}
	memoryAfter, logAfter, err := heavy()
	if err != nil {
		return fmt.Errorf("asking Redis: %w", err)
	}
	m.JobBytes, m.LogBytes = (memoryAfter-memory)/float64(n), (logAfter-log)/float64(n)
	if m.KeyBytes, err = keyBytes(ctx, at.rdb); err != nil {
		return err
	}
	if err := at.rdb.ConfigSet(ctx, "appendfsync", "everysec").Err(); err != nil {
		return fmt.Errorf("having Redis sync once a second: %w", err)
	}
	w, err := wholeJobs(ctx, at, s, []string{"press-0"})
	m.Unsynced = w.redis()
	return err
}

// keyBytes is what the key of a job takes, with its time to live.
func keyBytes(ctx context.Context, rdb redis.UniversalClient) (float64, error) {
	keys, _, err := rdb.Scan(ctx, 0, "oj:{*}:key:*", 100_000).Result()
	if err != nil || len(keys) == 0 {
		return 0, fmt.Errorf("looking for keys: %d found: %w", len(keys), err)
	}
	bytes, err := rdb.MemoryUsage(ctx, keys[0]).Result()
	if err != nil {
		return 0, fmt.Errorf("weighing a key: %w", err)
	}
	const expiry = 32 // an entry in the table of times to live, which MEMORY USAGE leaves out
	return float64(bytes) + expiry, nil
}

// wholeJobs measures jobs from the POST to the end.
func wholeJobs(ctx context.Context, at *stand, s settings, providers []string) (whole, error) {
	var rounds []whole
	for range s.rounds {
		if err := flush(ctx, at.rdb); err != nil {
			return whole{}, err
		}
		_, one, err := oneRound(ctx, at, s, providers)
		if err != nil {
			return whole{}, err
		}
		rounds = append(rounds, one)
	}
	// The round in the middle, as a whole: its parts belong together.
	slices.SortFunc(rounds, func(a, b whole) int { return cmp.Compare(a.all(), b.all()) })
	return rounds[len(rounds)/2], nil
}

func oneRound(ctx context.Context, at *stand, s settings, providers []string) (int, whole, error) {
	api, addr, err := at.onejob(ctx, "api", providers)
	if err != nil {
		return 0, whole{}, err
	}
	defer process.Stop(api)
	worker, _, err := at.onejob(ctx, "worker", providers)
	if err != nil {
		return 0, whole{}, err
	}
	defer process.Stop(worker)
	m, err := startMeter(append([]int{api.Process.Pid, worker.Process.Pid}, at.pids()...)...)
	if err != nil {
		return 0, whole{}, err
	}
	began, own := time.Now(), ownTime()
	n, err := submitFor(ctx, addr, providers, s.duration)
	if err != nil {
		return 0, whole{}, err
	}
	load := ownTime() - own
	if err := finished(ctx, at.rdb, n); err != nil {
		return 0, whole{}, err
	}
	took := time.Since(began)
	each, err := m.each(n)
	if err != nil {
		return 0, whole{}, err
	}
	w := whole{
		PerSecond: float64(n) / took.Seconds(), API: each[0], Worker: each[1],
		Load: float64(load.Microseconds()) / float64(n),
	}
	// The node of the first queue comes first.
	first := nodeOf(providers[0], len(at.nodes))
	for i := range at.nodes {
		w.Nodes = append(w.Nodes, each[2+(first+i)%len(at.nodes)])
	}
	return n, w, nil
}

// flush empties every node.
func flush(ctx context.Context, rdb redis.UniversalClient) error {
	var err error
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() })
	} else {
		err = rdb.FlushAll(ctx).Err()
	}
	if err != nil {
		return fmt.Errorf("emptying Redis: %w", err)
	}
	return nil
}

// field is one of INFO's.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return text
		}
	}
	return ""
}
