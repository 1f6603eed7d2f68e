package lua_test

import (
	"path/filepath"
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
