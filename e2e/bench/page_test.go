package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fromHere is a path of the repository, seen from this package.
func fromHere(path string) string { return filepath.Join("..", "..", path) }

// What the page and its charts show is what the committed figures say.
func TestPage_ShowsTheLatestFigures(t *testing.T) {
	t.Parallel()
	latest, err := readRun(fromHere(latestFile))
	require.NoError(t, err)
	text, err := os.ReadFile(fromHere(pageFile))
	require.NoError(t, err)
	again, err := latest.page(string(text))
	require.NoError(t, err)
	require.Equal(t, again, string(text), "run: go run ./e2e/bench -render")
	for name := range tables {
		require.Contains(t, string(text), markBegin+name+" -->", "the page shows every table")
	}
	for name, chart := range latest.charts() {
		drawn, err := os.ReadFile(fromHere(filepath.Join(chartsDir, name)))
		require.NoError(t, err)
		require.Equal(t, chart, string(drawn), "run: go run ./e2e/bench -render")
		require.Contains(t, string(text), "](performance/"+name+")", "the page shows every chart")
	}
}

func TestLatest_IsOfAWholeRun(t *testing.T) {
	t.Parallel()
	latest, err := readRun(fromHere(latestFile))
	require.NoError(t, err)
	require.Len(t, latest.Goals, len(goals), "every goal is judged")
	require.Equal(t, judge(latest.Figures), latest.Goals)
}

func TestCharts_AreWellFormed(t *testing.T) {
	t.Parallel()
	empty := &run{} // of a run of few scenarios
	for name, chart := range empty.charts() {
		wellFormed(t, name, chart)
		require.NotContains(t, chart, "NaN", name)
		require.NotContains(t, chart, "Inf", name)
	}
	full, err := readRun(fromHere(latestFile))
	require.NoError(t, err)
	for name, chart := range full.charts() {
		wellFormed(t, name, chart)
		require.NotContains(t, chart, "NaN", name)
	}
}

func wellFormed(t *testing.T, name, chart string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(chart))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, name)
	}
}

func TestPage_MarksThatAreWrong(t *testing.T) {
	t.Parallel()
	r := &run{}
	for _, text := range []string{"a <!-- bench nothing --> b <!-- /bench -->", "a <!-- bench goals --> b"} {
		_, err := r.page(text)
		require.ErrorContains(t, err, "is not known, or has no end")
	}
	made, err := r.page("before <!-- bench machine -->old<!-- /bench --> after")
	require.NoError(t, err)
	require.NotContains(t, made, "old")
	require.True(t, strings.HasPrefix(made, "before <!-- bench machine -->\n"))
	require.True(t, strings.HasSuffix(made, "\n<!-- /bench --> after"))
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0: "0", 7: "7", 999.6: "1,000", 12345: "12,345", 1234567: "1,234,567"} {
		require.Equal(t, want, whole1000(value))
	}
	for value, want := range map[float64]string{0: "0", 0.288: "0.29", 5.5: "5.50", 53.53: "53.5", 3151.5: "3,152"} {
		require.Equal(t, want, short(value))
	}
}

func TestGoals_AreNotJudgedOnAMachineThatIsShared(t *testing.T) {
	t.Parallel()
	r := &run{Goals: judge(figures{"submit/s": {50}, "setnx/s": {100}, "one job commands": {7}})}
	require.Contains(t, r.goalTable(), "| 0.50 | at least 0.45 | reached |")
	require.NotContains(t, r.machineTable(), "worth nothing")
	r.Others = 0.5
	require.Contains(t, r.goalTable(), "| 0.50 | at least 0.45 | not judged: others had the machine |")
	require.Contains(t, r.goalTable(), "| 7.00 | at most 6 | **missed** |", "a count is one on any machine")
	require.Contains(t, r.machineTable(), "worth nothing")
}
