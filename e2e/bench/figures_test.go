package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	f := figures{}
	_, known := f.median("x")
	require.False(t, known)
	for _, value := range []float64{9, 1, 5} {
		f.add("x", value)
	}
	value, _ := f.median("x")
	require.InDelta(t, 5, value, 0)
	f.add("x", 7)
	value, _ = f.median("x")
	require.InDelta(t, 6, value, 0)
}

// The machine became twice as slow after the second round: both suffered, and the
// ratio of neither round changed.
func TestRatio_IsOfRounds(t *testing.T) {
	t.Parallel()
	f := figures{"ours": {50, 50, 25}, "floor": {100, 100, 50}, "once": {10}, "none": {0}}
	value, known := f.ratio("ours", "floor")
	require.True(t, known)
	require.InDelta(t, 0.5, value, 1e-9)
	value, known = f.ratio("once", "floor")
	require.True(t, known)
	require.InDelta(t, 0.1, value, 1e-9)
	_, known = f.ratio("ours", "missing")
	require.False(t, known)
	_, known = f.ratio("once", "none")
	require.False(t, known)
}

func TestJudge(t *testing.T) {
	t.Parallel()
	f := figures{
		"submit/s": {44}, "setnx/s": {100}, "enqueue/s": {60},
		"one job commands": {6, 6, 7, 6, 6}, "idle submit-to-claim p50 ms": {15.5},
	}
	met := map[string]bool{}
	for _, v := range judge(f) {
		met[v.Goal] = v.Met
	}
	require.Equal(t, map[string]bool{
		"submit to one SET NX":                  false,
		"submit to a bare enqueue":              true,
		"round trips to Redis of one whole job": true,
		"submit to claim, idle, median, ms":     false,
	}, met, "what was not measured is not judged")
}

func TestMetricsIn_ABenchmark(t *testing.T) {
	t.Parallel()
	found := metricsIn("goos: linux\nBenchmarkScripts-2 \t 3000\t 512345 ns/op\t 45.5 submit-µs\t 60 claim-µs\nPASS\n")
	require.InDelta(t, 45.5, found["submit-µs"], 0)
	require.InDelta(t, 60, found["claim-µs"], 0)
	require.Len(t, found, 3)
}

func TestEfforts_OfTheMachine(t *testing.T) {
	t.Parallel()
	possible, used, err := efforts("cpu  100 20 30 400 50 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	require.NoError(t, err)
	require.Equal(t, 6210*time.Millisecond, possible)
	require.Equal(t, 1710*time.Millisecond, used, "idle and iowait are not used")
	_, _, err = efforts("intr 1 2 3")
	require.Error(t, err)

	before, err := effortNow()
	require.NoError(t, err)
	require.Positive(t, before.ours)
	others, err := othersSince(before)
	require.NoError(t, err)
	require.InDelta(t, 0.5, others, 0.6)
}
