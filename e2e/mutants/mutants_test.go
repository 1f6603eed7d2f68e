package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// root is the top of the tree, seen from here.
const root = "../.."

var testName = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// TestMutants_AllFit keeps the mutants from rotting: every patch fits the tree as it
// is and names tests that are there. `make mutants` runs them.
func TestMutants_AllFit(t *testing.T) {
	t.Parallel()
	patches, err := filepath.Glob("*.patch")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(patches), 25)
	for _, patch := range patches {
		t.Run(name(patch), func(t *testing.T) {
			t.Parallel()
			m, err := read(patch)
			require.NoError(t, err)
			_, err = m.mutated(root)
			require.NoError(t, err)
			dir, tests := m.packageOf()
			require.NotEmpty(t, tests, "%s: name the tests with -run", m.test)
			require.Condition(t, func() bool { return hasTest(t, filepath.Join(root, dir), regexp.MustCompile(tests)) },
				"%s has no test like %s", dir, tests)
		})
	}
}

func hasTest(t *testing.T, dir string, like *regexp.Regexp) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range testName.FindAllSubmatch(text, -1) {
			if like.Match(found[1]) {
				return true
			}
		}
	}
	return false
}

// A module of one rule, with a test for it and one for nothing.
var module = map[string]string{
	"go.mod":       "module small\n\ngo 1.26\n",
	"rule.go":      "package small\n\nfunc Allowed(n int) bool {\n\tif n > 3 {\n\t\treturn false\n\t}\n\treturn true\n}\n\n// again\n\n// again\n",
	"rule_test.go": "package small\n\nimport \"testing\"\n\nfunc TestRule(t *testing.T) {\n\tt.Run(\"four\", func(t *testing.T) {\n\t\tif Allowed(4) {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n\nfunc TestOther(t *testing.T) {}\n\nfunc TestBroken(t *testing.T) { t.Fail() }\n",
}

const (
	header   = "--- a/rule.go\n+++ b/rule.go\n"
	withRule = header + "@@ -4,4 +4,1 @@\n-\tif n > 3 {\n-\t\treturn false\n-\t}\n \treturn true\n"
	noSense  = header + "@@ -4,1 +4,1 @@\n-\tif n > 3 {\n+\tif n > {\n"
	noPlace  = header + "@@ -4,1 +4,1 @@\n-\tif n > 4 {\n+\tif n > 5 {\n"
	manyOf   = header + "@@ -10,1 +10,1 @@\n-// again\n+// once\n"
	twoFiles = withRule + "--- a/go.mod\n+++ b/go.mod\n@@ -1,1 +1,1 @@\n-module small\n+module big\n"
)

func TestRun_SaysWhatBecameOfAMutant(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	for name, text := range module {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for name, test := range map[string]struct {
		patch, test string
		says        string
		killed      string
	}{
		"killed":              {patch: withRule, test: ". -run TestRule", killed: "TestRule/four"},
		"survived":            {patch: withRule, test: ". -run TestOther"},
		"does not compile":    {patch: noSense, test: ". -run TestRule", says: "syntax error"},
		"does not fit":        {patch: noPlace, test: ". -run TestRule", says: "does not fit"},
		"fits twice":          {patch: manyOf, test: ". -run TestRule", says: "more than one place"},
		"a test that is gone": {patch: withRule, test: ". -run TestGone", says: "runs no test"},
		"a test that fails":   {patch: withRule, test: ". -run TestBroken", says: "with the rule in place"},
		"two files":           {patch: twoFiles, test: ". -run TestRule", says: "changes 2 files"},
		"no patch":            {patch: "", test: ". -run TestRule", says: "changes 0 files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "some.patch")
			require.NoError(t, os.WriteFile(file, []byte("# rule: few\n# test: "+test.test+"\n"+test.patch), 0o600))
			m, err := read(file)
			by := ""
			if err == nil {
				by, err = m.try(t.Context(), dir)
			}
			require.Equal(t, test.killed, by)
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
		})
	}
}

func TestRun_RefusesWhatIsNoMutant(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.Equal(t, unusable, run(t.Context(), nil, &out))
	require.Contains(t, out.String(), "name the patches")
	file := filepath.Join(t.TempDir(), "some.patch")
	require.NoError(t, os.WriteFile(file, []byte(withRule), 0o600))
	out.Reset()
	require.Equal(t, unusable, run(t.Context(), []string{file}, &out))
	require.Contains(t, out.String(), "# rule: …")
}
