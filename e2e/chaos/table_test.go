package chaos_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// table shows the figures as docs/reliability.md does.
func (f *figures) table() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "| %s | "+format+" |\n", append([]any{name}, args...)...)
	}
	fmt.Fprintf(&b, "\n| `%s` | |\n| --- | --- |\n", f.Again)
	var took []string
	for _, p := range f.Phases {
		took = append(took, fmt.Sprintf("%s in %.0f s", p.Name, p.Took))
	}
	row("time", "%s", strings.Join(took, ", "))
	for _, k := range f.Faults {
		met := ""
		if k.Met > 0 {
			met = fmt.Sprintf("; %d with work under way there, %.1f on average", k.Met, float64(k.Work)/float64(k.Met))
		}
		if k.Error != "" {
			met += "; last error: " + k.Error
		}
		row(k.Name, "%d of %d%s", k.Fired, k.Planned, met)
	}
	row("what the network did", "%s", f.Toxics)
	row("Redis away", "%.0f s in all; %d starts of a process found no store, and were made again", f.RedisAway, f.GaveUp)
	for _, t := range []struct {
		name string
		of   tally
	}{
		{"requests", f.Calls},
		{"answers", f.Answers},
		{"jobs", f.Ends},
		{"creates", f.Presses},
		{"what the provider did", f.Modes},
		{"attempts that became unknown", f.Unknown},
		{"settled by", f.Settled},
		{"late outcomes, recorded and not applied", f.Late},
	} {
		row(t.name, "%s", t.of)
	}
	row("attempts", "%d; %d were running past deadline, lease and two sweeps, the longest for %.0f s", f.Attempts, f.Overlong, f.Longest)
	row("effects", "%d, %d of them not a job's result", f.Effects, f.Unused)
	return b.String() + "\n"
}

// String lists the counts, the largest first.
func (t tally) String() string {
	names := slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		if t[a] != t[b] {
			return t[b] - t[a]
		}
		return strings.Compare(a, b)
	})
	parts := []string{fmt.Sprint(t.total())}
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %d", name, t[name]))
	}
	return strings.Join(parts, "; ")
}
