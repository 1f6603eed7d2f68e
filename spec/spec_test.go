// Package spec_test searches the model of the protocol: as it is nothing is broken,
// and with a rule taken out something is. `make spec` searches larger bounds.
package spec_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bound is how long one search, or one trace, may take on a busy machine.
const bound = 3 * time.Minute

// Small bounds, and what they are for.
const (
	plain   = "-DATTEMPTS=2 -DPLANNED=2 -DDECISIONS=1"
	settles = plain + " -DSETTLES"
	reopens = "-DATTEMPTS=3 -DPLANNED=2 -DDECISIONS=1"
	races   = "-DATTEMPTS=3 -DPLANNED=3 -DDECISIONS=0 -DRACING"
	decided = "-DATTEMPTS=2 -DPLANNED=2 -DDECISIONS=1 -DRACING"
	starts  = plain + " -DSTART_BY"
	keys    = "-DATTEMPTS=1 -DPLANNED=1 -DDECISIONS=1 -DCALLERS=3"
)

// mutants are the rules that nothing else covers: what breaks without them.
var mutants = []struct{ without, in, breaks string }{
	{"NO_RESERVATION", keys, "I7"},
	{"NO_FINGERPRINT", keys, "I8"},
	{"NO_SUBMIT_ID", keys, "TOLD"},
	{"NO_CLAIM_GUARD", plain, "I2"},
	{"NO_CLAIM_TOKEN", plain, "TOLD"},
	{"NO_LEASE_CHECK", settles, "I2"},
	{"NO_LAPSE_GUARD", plain, "I2"},
	{"NO_SWEEP", plain, "STUCK"},
	{"NO_SUSPECT_GUARD", plain, "I5"},
	{"NO_STATE_GUARD", settles, "I5"},
	{"NO_LATE_RECORD", plain, "I6"},
	{"NO_NEWS_RULE", plain, "NEWS"},
	{"NO_WAITING", races, "I4"},
	{"NO_OPEN_GUARD", plain, "I4"},
	{"NO_RACE_GUARD", races, "I4"},
	{"NO_EXPECTED_VERSION", reopens, "RETRY"},
	{"NO_RISE", reopens, "RETRY"},
	{"NO_RESOLVE_GUARD", plain, "I5"},
	{"NO_SURVIVOR", decided, "DOOR"},
	{"NO_CANCEL_GUARD", plain, "I5"},
	{"NO_OPERATION_IDS", plain, "TOLD"},
	{"NO_SETTLE", plain, "STATE"},
	{"NO_SETTLE_RUNNING", plain, "I10"},
	{"NO_SETTLE_STARTING", plain, "I10"},
	{"NO_SETTLE_UNKNOWN", plain, "I10"},
	{"NO_SETTLE_CLOSE", plain, "I10"},
}

// covered are the rules that others stand behind: taking them out breaks nothing,
// with the others in place. They are kept, and tested on records made by hand.
var covered = []struct{ without, in string }{
	{"NO_FENCE NO_SLOT", races},  // by the state of the attempt (DOOR)
	{"NO_FENCE NO_SLOT", plain},  // the same, with a person deciding
	{"NO_SETTLE_FINAL", decided}, // by NO_SETTLE_CLOSE: nobody is open beneath a final job
}

func TestSpec_NothingIsBroken(t *testing.T) {
	t.Parallel()
	needsSpin(t)
	for name, definitions := range map[string]string{
		"settles": settles, "reopens": reopens, "races": races, "decided": decided, "starts": starts, "keys": keys,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, broken := search(t, definitions)
			require.False(t, broken, said)
		})
	}
}

func TestSpec_EveryRuleIsNeeded(t *testing.T) {
	t.Parallel()
	needsSpin(t)
	for _, m := range mutants {
		t.Run(m.without, func(t *testing.T) {
			t.Parallel()
			said, broken := search(t, m.in+" -D"+m.without)
			require.True(t, broken, said)
			require.Equal(t, "broken: "+m.breaks, firstLine(said), said)
		})
	}
}

func TestSpec_OthersCover(t *testing.T) {
	t.Parallel()
	needsSpin(t)
	for _, c := range covered {
		t.Run(c.without, func(t *testing.T) {
			t.Parallel()
			said, broken := search(t, c.in+" -D"+strings.ReplaceAll(c.without, " ", " -D"))
			require.False(t, broken, said)
		})
	}
}

// The moment between the last look at the lease and the first byte is what is not
// promised (docs/guarantees.md). If it broke nothing, it could be.
func TestSpec_TheMomentThatIsNotPromised(t *testing.T) {
	t.Parallel()
	needsSpin(t)
	said, broken := search(t, settles+" -DMOMENT")
	require.True(t, broken, said)
	require.Equal(t, "broken: I2", firstLine(said), said)
}

func TestSpec_EveryRuleIsInTheTables(t *testing.T) {
	t.Parallel()
	tabled := map[string]bool{}
	for _, m := range mutants {
		tabled[m.without] = true
	}
	for _, c := range covered {
		for rule := range strings.FieldsSeq(c.without) {
			tabled[rule] = true
		}
	}
	files, err := filepath.Glob("*.pml")
	require.NoError(t, err)
	rules := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(`(?m)^#ifn?def (NO_\w+)`).FindAllSubmatch(text, -1) {
			rules[string(match[1])] = true
		}
	}
	require.Equal(t, rules, tabled, "every rule that can be taken out is tested, and every one tested can")
}

// A search that was cut short is no clean one.
func TestSpec_ASearchCutShortShowsNothing(t *testing.T) {
	t.Parallel()
	needsSpin(t)
	said, code := run(t, ".", "env", append([]string{"SEARCH_LIMIT=0.001", "./search"}, strings.Fields(settles)...)...)
	require.Equal(t, 2, code, said)
	require.Contains(t, said, "not completed")
}

// search runs ./search for the shortest way to an error: what it said, and whether
// a rule is broken. A search that was not completed fails the test.
func search(t *testing.T, definitions string) (said string, broken bool) {
	t.Helper()
	said, code := run(t, ".", "./search", append([]string{"-s"}, strings.Fields(definitions)...)...)
	require.Contains(t, []int{0, 1}, code, "the search was not completed: %s", said)
	return said, code == 1
}

// run runs a command to its end: all it said, and its exit code.
func run(t *testing.T, folder, name string, args ...string) (said string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = folder
	command.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	require.NoError(t, ctx.Err(), "%s took longer than %s: %s", name, bound, output.String())
	if command.ProcessState == nil {
		require.NoError(t, err)
	}
	return output.String(), command.ProcessState.ExitCode()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// needsSpin skips the test where spin or a C compiler is missing, or fails it where
// ONEJOB_REQUIRE_SPIN is set, as `make test` does.
func needsSpin(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		missing := tool + " is not installed (Debian: apt-get install spin gcc)"
		if os.Getenv("ONEJOB_REQUIRE_SPIN") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
}
