package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// bench is one run: a Redis, the binary, and what was measured.
type bench struct {
	settings
	dir       string
	binary    string
	config    string
	redis     string
	rdb       *redis.Client
	processes []*exec.Cmd
	figures   figures
}

// config of the processes measured: one instant provider, no webhooks.
const benchConfig = `
providers:
  instant: {type: simulated, concurrency: 64}
routes:
  print: {providers: [instant]}
`

func newBench(ctx context.Context, s settings) (*bench, error) {
	dir, err := os.MkdirTemp("", "onejob-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	b := &bench{
		settings: s, dir: dir, figures: figures{},
		binary: filepath.Join(dir, "onejob"), config: filepath.Join(dir, "onejob.yaml"),
	}
	if err := os.WriteFile(b.config, []byte(benchConfig), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.binary, "onejob/cmd/onejob")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building onejob: %w\n%s", err, out)
	}
	err = b.startRedis(ctx)
	return b, err
}

// close ends every process and removes the folder.
func (b *bench) close() {
	for _, cmd := range slices.Backward(b.processes) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	_ = os.RemoveAll(b.dir)
}

// measure runs every scenario once a round, so that what the machine does
// meanwhile meets all of them.
func (b *bench) measure(ctx context.Context) error {
	chosen, err := b.chosen()
	if err != nil {
		return err
	}
	for round := range b.rounds {
		for _, s := range chosen {
			if s.once && round > 0 {
				continue
			}
			if err := b.rdb.FlushAll(ctx).Err(); err != nil {
				return fmt.Errorf("emptying Redis: %w", err)
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, b.rounds, s.name)
			if err := s.run(ctx, b, s.name); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return nil
}

// chosen are the scenarios to run, in the order of the list.
func (b *bench) chosen() ([]scenario, error) {
	if b.only == "" {
		return scenarios, nil
	}
	names := strings.Split(b.only, ",")
	var chosen []scenario
	for _, s := range scenarios {
		if slices.Contains(names, s.name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) != len(names) {
		var known []string
		for _, s := range scenarios {
			known = append(known, s.name)
		}
		return nil, fmt.Errorf("-only %s: there are %s", b.only, strings.Join(known, ", "))
	}
	return chosen, nil
}
