package contracts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
)

// stricter are answers where the verdicts differ on purpose; docs/contracts.md
// says why.
var stricter = map[string]bool{
	`type: contains-json {'a': 1}`: true, // promptfoo reads YAML there
	`type: contains-json {"a": 1`:  true, // and closes braces
}

// The exported file has the same verdicts with promptfoo itself. It is not part of
// `make test`: give its command in ONEJOB_PROMPTFOO (npm install promptfoo).
func TestExport_SameVerdictsAsPromptfoo(t *testing.T) {
	t.Parallel()
	command := os.Getenv("ONEJOB_PROMPTFOO")
	if command == "" {
		t.Skip("ONEJOB_PROMPTFOO names no promptfoo")
	}
	var b strings.Builder
	b.WriteString("prompts: ['{{case}}']\nrequire: [schema]\ntests:\n")
	var contents, names []string
	add := func(assertion, content string) {
		fmt.Fprintf(&b, "  - {vars: {case: 'case-%d-'}, assert: [{%s}]}\n", len(contents), assertion)
		contents, names = append(contents, content), append(names, assertion+" "+content)
	}
	for _, test := range assertions {
		if strings.Contains(test.assertion, "unevaluated") {
			continue // not exported
		}
		for _, content := range append(append([]string{}, test.met...), test.unmet...) {
			add(test.assertion, content)
			add(strings.Replace(test.assertion, "type: ", "type: not-", 1), content)
		}
	}
	for _, set := range []string{
		"type: assert-set, assert: [{type: contains, value: a}, {type: contains, value: b}]",
		"type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: contains, value: b}]",
		"type: assert-set, threshold: 0.6, assert: [{type: contains, value: a, weight: 2}, {type: contains, value: b}]",
	} {
		for _, content := range []string{"ab", "a", "b", "c"} {
			add(set, content)
		}
	}
	add("type: contains, value: '{{case}}'", "case-x")
	add("type: latency, threshold: 60000", "a")
	add("type: latency, threshold: 0.000001", "a")
	add("type: finish-reason, value: length", "a")
	c, err := contracts.Parse("c.yaml", []byte(b.String()), os.DirFS("testdata"))
	require.NoError(t, err)
	server := serve(t, func(asked chat, a *reply) {
		for i, content := range contents {
			if asked.last() == fmt.Sprintf("case-%d-", i) {
				a.content = content
			}
		}
	})
	target := target(t, server.URL)

	ours := map[int]bool{}
	for _, f := range verify(t, c, target, 1).Findings {
		var run, n int
		_, err := fmt.Sscanf(f.What, "run %d, test %d", &run, &n)
		require.NoError(t, err)
		ours[n-1] = true // failed
	}
	theirs := promptfoo(t, command, c, target)
	var differ []string
	for i, name := range names {
		if (theirs[i] != ours[i]) != stricter[strings.Replace(name, "type: not-", "type: ", 1)] {
			differ = append(differ, fmt.Sprintf("failed here: %t; to promptfoo: %t: %s", ours[i], theirs[i], name))
		}
	}
	require.Empty(t, differ, strings.Join(differ, "\n"))
	t.Logf("%d verdicts are the same, %d differ as documented", len(names)-2*len(stricter), 2*len(stricter))
}

// promptfoo returns which tests failed.
func promptfoo(t *testing.T, command string, c *contracts.Contract, target contracts.Target) map[int]bool {
	t.Helper()
	dir := t.TempDir()
	exported, err := c.Export(target)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "promptfooconfig.yaml"), exported, 0o600))
	cmd := exec.CommandContext(t.Context(), command, "eval", "--no-cache", "--no-progress-bar", "--no-table", "--no-write", "-o", "out.json")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=none", "PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1",
		"PROMPTFOO_CONFIG_DIR="+dir, "PROMPTFOO_FAILED_TEST_EXIT_CODE=0")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	var out struct {
		Results struct {
			Results []struct {
				TestIdx int
				Success bool
				Error   string
			}
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "out.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	require.Len(t, out.Results.Results, len(c.Tests), string(said))
	failed := map[int]bool{}
	for _, r := range out.Results.Results {
		failed[r.TestIdx] = !r.Success
	}
	return failed
}
