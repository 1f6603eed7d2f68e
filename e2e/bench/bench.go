package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"onejob/e2e/process"
)

// bench is one run: a Redis, the binary, and what was measured.
type bench struct {
	settings
	dir       string
	binary    string
	config    string
	commit    string // the one that was built
	store     *store
	processes process.Group
	figures   figures
	curves    curves
}

// benchConfig is that of the processes measured: one provider, which answers at
// once, with its input.
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
		settings: s, dir: dir, processes: process.Group{Dir: dir}, commit: commit(), figures: figures{}, curves: curves{},
		binary: filepath.Join(dir, "onejob"), config: filepath.Join(dir, "onejob.yaml"),
	}
	if err := b.prepare(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context) error {
	if err := os.WriteFile(b.config, []byte(benchConfig), 0o600); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.binary, "onejob/cmd/onejob")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building onejob: %w\n%s", err, out)
	}
	var err error
	b.store, err = b.startStore(ctx, "redis-server", b.keeps)
	return err
}

// close ends every process and removes the folder.
func (b *bench) close() {
	b.processes.Close()
}

// measure runs every scenario once a round, so that what the machine does
// meanwhile meets all of them; then those that are run once.
func (b *bench) measure(ctx context.Context, chosen []scenario) error {
	for round := range b.rounds {
		for _, s := range chosen {
			if s.once {
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, b.rounds, s.name)
			if err := b.perform(ctx, s); err != nil {
				return err
			}
		}
	}
	for _, s := range chosen {
		if !s.once {
			continue
		}
		fmt.Fprintln(os.Stderr, "once:", s.name)
		if err := b.perform(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) perform(ctx context.Context, s scenario) error {
	if err := b.store.empty(ctx); err != nil {
		return err
	}
	if err := s.run(ctx, b, s.name); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// chosen are the scenarios to run, in the order of the list.
func chosen(only string) ([]scenario, error) {
	if only == "" {
		return scenarios, nil
	}
	names := strings.Split(only, ",")
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
		return nil, fmt.Errorf("-only %s: there are %s", only, strings.Join(known, ", "))
	}
	return chosen, nil
}
