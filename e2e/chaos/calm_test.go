package chaos_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

// calmEnv makes the provider one that always answers.
const calmEnv = "ONEJOB_CHAOS_CALM"

// calmModes are the answers of a provider at which nothing goes wrong: a no is one, too.
var calmModes = []string{"ok", "busy", "reject"}

// patient gives a configuration the clocks that are the default ones: nothing is to
// look like silence only because this machine is busy.
var patient = strings.NewReplacer(
	"timeout: 500ms, deadline: 4s", "timeout: 10s, deadline: 60s",
	"drain: 3s\nlease: 3s\nbeat: 1s", "drain: 60s\nlease: 15s\nbeat: 5s",
)

// TestCalm is I12: a run without faults has no unknown. The same callers, the same
// checks, and nothing is killed, frozen or cut off.
func TestCalm(t *testing.T) { //nolint:paralleltest // it wants the machine to itself
	if testing.Short() {
		t.Skip("starts processes")
	}
	redistest.Require(t)
	const n = 300
	program.Onejob(t) // the time is for the run
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	w := start(t, &world{t: t, seed: 1, calm: true})
	w.ready(ctx)
	f := &figures{Seed: w.seed, Jobs: n}
	w.trouble(ctx, f, quotas{})
	stories := w.collectCalm(ctx, n)
	w.verdict(stories, n)
	f.count(stories)
	for _, mode := range calmModes {
		require.NotZero(t, f.Modes[mode], "the provider never did %s", mode)
	}
	require.Zero(t, f.Answers["none"], "a call was not answered")
	for _, state := range []string{"succeeded", "failed", "cancelled"} {
		require.NotZero(t, f.Ends[state], "no job is %s", state)
	}
	w.stop(ctx)
}

// collectCalm collects until what was heard of cancelled calls has been recorded: their
// jobs have ended before.
func (w *world) collectCalm(ctx context.Context, n int) map[string]*story {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		stories, waits := w.collect(ctx, n), 0
		for _, s := range stories {
			s.Calm = true
			if slices.Contains(s.wrong().rules(), "I6") {
				waits++
			}
		}
		if waits == 0 || !rest(ctx, 200*time.Millisecond) {
			return stories
		}
	}
}
