package spec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// step is a verb, or an event around it, as the model's printf tells it.
type step struct {
	verb    string
	attempt int
	by      int    // 1, 2: workers; 3: the operator; 0: nobody who sends it again
	version int64  // that an open expects
	detail  string // reason of a fail, outcome of a resolve
	on      bool   // a fail is retryable; a resolve continues
	answer  string
}

// forms are what onejob.pml and its parts print; the names of the groups are the
// fields of step.
var forms = []*regexp.Regexp{
	regexp.MustCompile(`^(?P<verb>submit) \d of \d: (?P<answer>\w+)$`),
	regexp.MustCompile(`^(?P<verb>claim|suspect|finalize) (?P<attempt>\d) by (?P<by>\d): (?P<answer>\w+)$`),
	regexp.MustCompile(`^(?P<verb>beat|send|leave) (?P<attempt>\d) by (?P<by>\d)$`),
	regexp.MustCompile(`^(?P<verb>lapse|race) (?P<attempt>\d)$`),
	regexp.MustCompile(`^(?P<verb>expire_start) (?P<attempt>\d): (?P<answer>\w+)$`),
	regexp.MustCompile(`^(?P<verb>start_by) is over$`),
	regexp.MustCompile(`^(?P<verb>fail) (?P<attempt>\d) by (?P<by>\d) \((?P<detail>\w+), retryable (?P<on>\d)\): (?P<answer>\w+)$`),
	regexp.MustCompile(`^(?P<verb>open) by (?P<by>\d) \(expecting (?P<version>\d+)\): (?P<answer>\w+)$`),
	regexp.MustCompile(`^(?P<verb>resolve) (?P<attempt>\d) as (?P<detail>\w+) \(continue (?P<on>\d)\) by (?P<by>\d): (?P<answer>\w+)$`),
	regexp.MustCompile(`^(?P<verb>cancel) by (?P<by>\d): (?P<answer>\w+)$`),
}

func parseStep(line string) (step, bool) {
	for _, form := range forms {
		found := form.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		at := func(name string) string {
			if i := form.SubexpIndex(name); i >= 0 {
				return found[i]
			}
			return ""
		}
		number := func(name string) int { n, _ := strconv.Atoi(at(name)); return n }
		return step{
			verb: at("verb"), attempt: number("attempt"), by: number("by"), version: int64(number("version")),
			detail: at("detail"), on: at("on") == "1", answer: at("answer"),
		}, true
	}
	return step{}, false
}

// trace is one random way through the model.
type trace struct {
	steps   []step
	records map[int]string // what the record is after a step, where a verb was sent
	text    string
	planned int           // max_attempts of the route
	within  time.Duration // to start the job in; 0: whenever
}

// model is a copy of the model that nobody else plays: spin writes beside it.
type model struct{ folder string }

func newModel(t *testing.T) model {
	t.Helper()
	m := model{folder: t.TempDir()}
	files, err := filepath.Glob("*.pml")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(m.folder, file), text, 0o600))
	}
	return m
}

// simulate plays the model once, by the dice of seed.
func (m model) simulate(t *testing.T, definitions string, seed int) trace {
	t.Helper()
	args := append([]string{"-T", fmt.Sprint("-n", seed), "-u2000"}, strings.Fields(definitions)...)
	said, _ := run(t, m.folder, "spin", append(args, "onejob.pml")...)
	tr := trace{records: map[int]string{}, planned: 2}
	if strings.Contains(definitions, "PLANNED=3") {
		tr.planned = 3
	}
	if strings.Contains(definitions, "START_BY") {
		tr.within = time.Hour
	}
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "timeout") || strings.HasPrefix(line, "----") || strings.HasPrefix(line, "spin:") {
			break // the end, or a rule is broken
		}
		if record, found := strings.CutPrefix(line, "= "); found {
			tr.records[len(tr.steps)-1] = record
			continue
		}
		s, ok := parseStep(line)
		require.True(t, ok, "%q is no form of trace_test.go", line)
		tr.steps = append(tr.steps, s)
		tr.text += line + "\n"
	}
	require.NotEmpty(t, tr.steps, said)
	return tr
}
