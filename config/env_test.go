package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	getenv := environment(map[string]string{
		"A": "1", "B_2": "two", "EMPTY": "", "NESTED": "${A}", "_": "under",
	})
	tests := []struct {
		in   string
		want expansion
	}{
		{"plain", expansion{text: "plain"}},
		{"${A}", expansion{text: "1"}},
		{"x${A}y${B_2}z", expansion{text: "x1ytwoz"}},
		{"${EMPTY}", expansion{text: ""}},
		{"${_}", expansion{text: "under"}},
		{"${NESTED}", expansion{text: "${A}"}}, // not expanded again
		{"$${A}", expansion{text: "${A}"}},
		{"$$${A}", expansion{text: "$${A}"}},
		{"$A $ $$ {A}", expansion{text: "$A $ $$ {A}"}},
		{"${GONE}", expansion{missing: []string{"GONE"}}},
		{"${a-b}", expansion{text: "${a-b}", malformed: true}},
		{"${2}", expansion{text: "${2}", malformed: true}},
		{"${", expansion{text: "${", malformed: true}},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, expand(test.in, getenv))
		})
	}
}

// Whatever a variable holds, it is one value: text, or an unquoted number or
// truth value, never structure.
func TestVariablesAreOneValue(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"7": 7, "-1.5": -1.5, "true": true, "0x10": 16, "text": "text", "": "", "null": "null", "~": "~",
		"[1, 2]": "[1, 2]", "{a: b}": "{a: b}", "a: b": "a: b", "x\ny: z": "x\ny: z", "*a": "*a", "&a b": "&a b",
		"!!int 1": "!!int 1", "# x": "# x", `"q"`: `"q"`, "2026-01-01": "2026-01-01", "<<": "<<", "yes": "yes",
	}
	const data = `
providers:
  a:
    type: simulated
    options:
      plain: ${V}
      quoted: "${V}"
      part: v${V}
routes: {r: {providers: [a]}}
`
	for value, want := range values {
		c, err := Parse("x.yaml", []byte(data), environment(map[string]string{"V": value}))
		require.NoError(t, err, "%q", value)
		require.Equal(t, map[string]any{"plain": want, "quoted": value, "part": "v" + value}, c.Providers["a"].Options, "%q", value)
	}
}

func TestVariablesOfEveryType(t *testing.T) {
	t.Parallel()
	data := `
redis:
  url: ${URL}
  wait_replicas: ${N}
drain: "${D}"
providers: {a: {type: "${TYPE}", concurrency: "${N}"}}
routes: {r: {providers: ["${A}"]}}
`
	c, err := Parse("x.yaml", []byte(data), environment(map[string]string{
		"URL": "redis://a:1/0", "N": "3", "D": "90s", "TYPE": "simulated", "A": "a",
	}))
	require.NoError(t, err)
	require.Equal(t, 3, c.Redis.WaitReplicas)
	require.Equal(t, "1m30s", c.Drain.String())
	require.Equal(t, 3, c.Providers["a"].Concurrency)
	require.Equal(t, []string{"a"}, c.Routes["r"].Providers)
}

// Between braces YAML takes the brace of an unquoted ${NAME} for its own.
func TestVariablesBetweenBracesNeedQuotes(t *testing.T) {
	t.Parallel()
	_, err := Parse("x.yaml", small("redis: {url: ${URL}}"), nil)
	require.Equal(t, []string{
		"x.yaml:3: not YAML: did not find expected ',' or '}'; between { and } a ${NAME} needs quotes; nothing after this could be read",
	}, problemsOf(t, err))
}
