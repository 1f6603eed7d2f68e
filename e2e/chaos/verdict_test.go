package chaos_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

func (w *world) verdict(stories map[string]*story, n int) {
	w.t.Helper()
	states, seen, wrong := map[jobs.State]int{}, map[string]int{}, 0
	for _, s := range stories {
		states[s.Job.State]++
		for _, e := range s.Ledger {
			seen[e.Mode]++
		}
	}
	w.t.Logf("jobs %v, ledger %v", states, seen)
	pictures := os.Getenv("ONEJOB_CHAOS_PICTURES")
	if pictures == "" {
		pictures = os.TempDir()
	}
	for key, s := range stories {
		found := s.wrong()
		result, err := s.linear(filepath.Join(pictures, fmt.Sprintf("chaos-%d-%s.html", w.seed, key)))
		require.NoError(w.t, err)
		if result != porcupine.Ok {
			found = append(found, "not linearizable: "+string(result))
		}
		if len(found) > 0 && wrong < 5 {
			whole, _ := json.MarshalIndent(s, "", " ")
			w.t.Errorf("seed %d, %s: %v\n%s", w.seed, key, found, whole)
		}
		if len(found) > 0 {
			wrong++
		}
	}
	require.Zero(w.t, wrong, "stories that break an invariant (seed %d)", w.seed)
	for _, mode := range modes {
		require.NotZero(w.t, seen[mode], "the provider never did %s: the run shows nothing of it", mode)
	}
	require.Greater(w.t, states[jobs.Succeeded], n/2, "too few successes to show anything")
}
