package app

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/config"
	"onejob/dashboard/payload"
)

// What the configuration takes, the pages can do, and the other way round: neither
// knows the other.
func TestRedactedPathsAreTheSameOnBothSides(t *testing.T) {
	t.Parallel()
	paths := []string{"input", "input.card", "*.password", "*", "a.b", "", "input.", ".input", "input..x", "Input", "results.x", "usage.*.x"}
	for _, root := range payload.Roots {
		paths = append(paths, root+".x")
	}
	for _, path := range slices.Compact(paths) {
		cfg := config.Default()
		cfg.Providers = map[string]config.Provider{"inkjet": {
			Type: config.TypeSimulated, Timeout: time.Second, Deadline: time.Second, Concurrency: 1,
		}}
		cfg.Routes = map[string]config.Route{"print": {Providers: []string{"inkjet"}}}
		cfg.SetDefaults()
		require.NoError(t, cfg.Validate())
		cfg.Dashboard.Redact = []string{path}
		_, err := payload.NewRedactor(cfg.Dashboard.Redact)
		if err == nil {
			require.NoError(t, cfg.Validate(), "%q", path)
		} else {
			require.ErrorContains(t, cfg.Validate(), "dashboard.redact[0]", "%q", path)
		}
	}
}
