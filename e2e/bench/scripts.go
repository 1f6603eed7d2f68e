package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// scriptTimes runs the benchmark of the scripts, one call at a time (package jobs): what
// they cost by Redis's own account, without anybody else's part in it.
func scriptTimes(ctx context.Context, b *bench, _ string) error {
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkScripts$", "-benchtime", "3000x", "onejob/jobs")
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running the benchmark of the scripts: %w\n%s", err, out)
	}
	for name, value := range metricsIn(string(out)) {
		if verb, ok := strings.CutSuffix(name, "-µs"); ok {
			b.figures.add("script "+verb+" µs", value)
		}
	}
	return nil
}

// metricsIn reads the line of a Go benchmark: its name, how often, then values each
// followed by its unit.
func metricsIn(output string) map[string]float64 {
	found := map[string]float64{}
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				found[fields[i+1]] = value
			}
		}
	}
	return found
}
