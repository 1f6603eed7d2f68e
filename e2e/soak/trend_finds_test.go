package soak_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// made are half an hour of samples of one series, 5 s apart: level, what is added in
// all, and a tenth of the points thrown anywhere, as around kills.
func made(series string, level, growth float64) []sample {
	dice := rand.New(rand.NewPCG(1, 2))
	var samples []sample
	for i := range 360 {
		value := level + growth*float64(i)/360 + level*0.05*(dice.Float64()-0.5)
		if dice.IntN(10) == 0 {
			value = 3 * level * dice.Float64()
		}
		samples = append(samples, sample{Seconds: float64(i * 5), Values: map[string]float64{series: value}})
	}
	return samples
}

// TestTrends_Find: what grows is found beside much noise, and noise alone is not.
func TestTrends_Find(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		series        string
		level, growth float64
		flat          bool
	}{
		"flat memory":            {"api0.rss_kb", 90_000, 0, true},
		"memory that grows":      {"api0.rss_kb", 90_000, 30_000, false},
		"memory that shrinks":    {"api0.rss_kb", 90_000, -30_000, true},
		"flat goroutines":        {"worker0.goroutines", 60, 0, true},
		"a goroutine per kill":   {"worker0.goroutines", 60, 60, false},
		"flat keys":              {"store.keys", 8_000, 0, true},
		"one key in a hundred":   {"store.keys", 8_000, 1_600, false},
		"files that stay open":   {"api0.fds", 40, 40, false},
		"an idle cost that adds": {"worker0.cpu_percent", 5, 20, false},
		"a webhook left":         {"store.webhooks", 0, 1, false},
		"a server left per kill": {"store.asynq_servers", 6, 60, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := trends(made(c.series, c.level, c.growth), 300)
			require.Len(t, found, 1)
			require.Equal(t, c.flat, found[0].flat(), "%v", found[0])
		})
	}
}

// TestTrends_WarmUp: what rises only at first is flat.
func TestTrends_WarmUp(t *testing.T) {
	t.Parallel()
	samples := made("store.keys", 8_000, 0)
	for i := range 60 {
		samples[i].Values["store.keys"] *= float64(i) / 60
	}
	require.True(t, trends(samples, 300)[0].flat())
}

// TestTrends_TooFewPoints: nothing is said of what was hardly seen.
func TestTrends_TooFewPoints(t *testing.T) {
	t.Parallel()
	require.Empty(t, trends(made("api1.rss_kb", 1, 0)[:leastPoints-1], 0))
	require.Empty(t, trends(made("api1.unheard_of", 1, 0), 0), "no rule")
}
