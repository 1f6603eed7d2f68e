package chaos_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hollow says why a run that broke nothing has shown too little all the same.
func (f *figures) hollow() []string {
	var why []string
	want := func(enough bool, format string, args ...any) {
		if !enough {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	const few = 20 // with fewer, luck decides
	for _, k := range f.Faults {
		want(k.Fired*100 >= k.Planned*95, "%s: %d of %d fired; last error: %s", k.Name, k.Fired, k.Planned, k.Error)
		if strings.HasPrefix(k.Name, "worker") && k.Planned >= few {
			want(k.Met*2 > k.Fired, "%s: only %d of %d found calls under way", k.Name, k.Met, k.Fired)
		}
	}
	for _, toxic := range toxics {
		want(f.Toxics[toxic.name] > 0 || f.Toxics.total() < len(toxics), "the network never did %s", toxic.name)
	}
	for _, mode := range modes {
		want(f.Modes[mode] > 0, "the provider never did %s", mode)
	}
	want(f.Ends["succeeded"]*10 >= f.Jobs*7, "only %d of %d jobs succeeded", f.Ends["succeeded"], f.Jobs)
	want(f.Unknown.total()*20 >= f.Jobs, "only %d attempts became unknown", f.Unknown.total())
	for _, reason := range []string{"worker_lost", "timeout"} {
		want(f.Unknown[reason] > 0, "no attempt became unknown by %s", reason)
	}
	for _, by := range []string{"late answer, succeeded", "look-up, succeeded", "operator, succeeded", "operator, failed"} {
		want(f.Settled[by] > 0, "no unknown attempt was settled by: %s", by)
	}
	return why
}

func fullFigures() *figures {
	f := &figures{
		Jobs:    1000,
		Faults:  []faultFigures{{Name: "worker kill -9", Planned: 100, Fired: 95, Met: 60}, {Name: "network", Planned: 1, Fired: 1}},
		Modes:   tally{},
		Toxics:  tally{"reset": 2},
		Ends:    tally{"succeeded": 700},
		Unknown: tally{"worker_lost": 20, "timeout": 30},
		Settled: tally{"late answer, succeeded": 1, "look-up, succeeded": 1, "operator, succeeded": 1, "operator, failed": 1},
	}
	for _, mode := range modes {
		f.Modes[mode] = 1
	}
	for _, toxic := range toxics {
		f.Toxics[toxic.name]++
	}
	return f
}

// Every guard against a hollow pass notices what it is there for.
func TestHollow(t *testing.T) {
	t.Parallel()
	require.Empty(t, fullFigures().hollow())
	for says, harm := range map[string]func(*figures){
		"94 of 100 fired":                  func(f *figures) { f.Faults[0].Fired = 94 },
		"0 of 1 fired":                     func(f *figures) { f.Faults[1].Fired = 0 },
		"found calls under way":            func(f *figures) { f.Faults[0].Met = 47 },
		"the network never did slow close": func(f *figures) { f.Toxics["slow close"] = 0 },
		"never did cut":                    func(f *figures) { f.Modes["cut"] = 0 },
		"only 699 of 1000 jobs":            func(f *figures) { f.Ends["succeeded"] = 699 },
		"only 49 attempts":                 func(f *figures) { f.Unknown["timeout"] = 29 },
		"unknown by worker_lost":           func(f *figures) { f.Unknown["timeout"] += f.Unknown["worker_lost"]; delete(f.Unknown, "worker_lost") },
		"settled by: operator, failed":     func(f *figures) { delete(f.Settled, "operator, failed") },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			f := fullFigures()
			harm(f)
			why := f.hollow()
			require.Len(t, why, 1)
			require.Contains(t, why[0], says)
		})
	}
}
