package lua_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/lua"
)

// TestSource: what a script includes comes before it, each once, and what it nests is
// closed again.
func TestSource(t *testing.T) {
	t.Parallel()
	fail, err := lua.Source("fail") // includes outcome and next, which both include settle
	require.NoError(t, err)
	at := 0
	for _, function := range []string{"read_rest", "open_schema", "read_small", "load_job", "announce", "settle", "entitled", "follow"} {
		declared := "local function " + function + "("
		require.Equal(t, 1, strings.Count(fail, declared), function)
		next := strings.Index(fail, declared)
		require.Greater(t, next, at, "%s comes too early", function)
		at = next
	}
	require.Equal(t, 1, strings.Count(fail, "\nreturn (function()\n"))
	require.True(t, strings.HasSuffix(fail, "\nend)()\n"))

	_, err = lua.Source("no such")
	require.ErrorContains(t, err, "loading script no such")
}

// TestSource_Lines: what follows a script begins on a line of its own.
func TestSource_Lines(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		source, err := lua.Source(strings.TrimSuffix(path, ".lua"))
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(source, "\n"), path)
		require.NotContains(t, source, "-- include:", path)
		require.NotContains(t, source, "-- nest", path)
	}
}

// TestLayouts: one pattern of Lua has 32 captures at most.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= lua.Schema; schema++ {
		layout := lua.LayoutOf(schema)
		for _, columns := range []lua.Columns{layout.Job, layout.Attempt, layout.Delivery} {
			require.LessOrEqual(t, len(columns.Always)+len(columns.Often), 31)
			require.NotEmpty(t, columns.Often)
		}
	}
}

// TestLibrary_State: what is declared outside of a function stays from one run of a
// function to the next. So what any of them sets is set by begin, before every verb, or is
// the layout, which every verb opens before it reads; and all else is never set again.
func TestLibrary_State(t *testing.T) {
	t.Parallel()
	shared, _, found := strings.Cut(lua.Library(), "redis.register_function(")
	require.True(t, found)
	body := func(name string) string {
		_, rest, found := strings.Cut(shared, "local function "+name+"(")
		require.True(t, found, name)
		body, _, _ := strings.Cut(rest, "\nend\n")
		return body
	}
	begun := body("begin") + body("turn_to")
	sets := func(text, name string) bool {
		return regexp.MustCompile(`(?m)^\s+(?:\w+, )*` + name + `(?:, \w+)* = `).MatchString(text)
	}
	var state []string
	for _, line := range regexp.MustCompile(`(?m)^local (\w+(?:, \w+)*)( =.*)?(?: --.*)?$`).FindAllStringSubmatch(shared, -1) {
		for name := range strings.SplitSeq(line[1], ", ") {
			if line[2] == "" {
				state = append(state, name)
				require.True(t, sets(begun, name), "%s: begin leaves it as the verb before left it", name)
			} else {
				require.False(t, sets(shared, name), "%s is set again", name)
				require.NotRegexp(t, `(?m)^\s+`+name+`(\.\w+|\[[^\]]*\])+ = `, shared, "%s is written into", name)
			}
		}
	}
	require.Subset(t, state, []string{"layout", "newer", "JOB", "OP", "now", "job", "rows", "ops", "writes", "deletes", "seq"})
}

// TestLibrary: every function is a verb under a name of this build's, and the same text
// as its script.
func TestLibrary(t *testing.T) {
	t.Parallel()
	text := lua.Library()
	names := regexp.MustCompile(`redis\.register_function\('(onejob_(\w+)_[0-9a-f]{12})'`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		require.Equal(t, name[2], lua.VerbOf(name[1]))
		_, function, _ := strings.Cut(text, name[0])
		function, _, _ = strings.Cut(function, "\nredis.register_function(")
		_, function, _ = strings.Cut(function, "\n")
		script, err := lua.Source(name[2])
		require.NoError(t, err)
		require.Contains(t, script, strings.TrimSuffix(strings.TrimSuffix(function, "\n"), "end)"))
		require.Equal(t, strings.Contains(script, "local function begin("), strings.HasPrefix(function, "begin(KEYS, ARGV)\n"), name[2])
	}
	require.Empty(t, lua.VerbOf("onejob_submit"))
}
