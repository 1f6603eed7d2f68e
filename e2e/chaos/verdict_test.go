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
	ledger, err := readLedger(w.ledger)
	require.NoError(w.t, err)
	seen := map[string]int{}
	byKey := map[string][]entry{}
	for _, e := range ledger {
		byKey[e.Key] = append(byKey[e.Key], e)
		seen[e.Mode]++
	}
	states, wrong := map[jobs.State]int{}, 0
	for key, s := range stories {
		var page struct {
			Data []jobs.Event `json:"data"`
		}
		s.Job = jobs.Job{ID: s.Job.ID}
		require.NoError(w.t, w.get("/v1/jobs/"+s.Job.ID, &s.Job))
		require.NoError(w.t, w.get("/v1/jobs/"+s.Job.ID+"/events?limit=100", &page))
		s.Trail, s.Ledger = page.Data, byKey[key]
		states[s.Job.State]++
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
