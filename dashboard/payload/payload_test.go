package payload_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/dashboard/payload"
)

func redactor(t *testing.T, paths ...string) *payload.Redactor {
	t.Helper()
	r, err := payload.NewRedactor(paths)
	require.NoError(t, err)
	return r
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, ünïcode, 日本語 😀":   "plain, ünïcode, 日本語 😀",
		"line\nand\ttab":          "line\nand\ttab",
		"evil\u202egnp.exe":       "evil⟨U+202E⟩gnp.exe",
		"a\u2066b\u2069":          "a⟨U+2066⟩b⟨U+2069⟩",
		"sep\u2028par\u2029":      "sep⟨U+2028⟩par⟨U+2029⟩",
		"zero\u200bwidth\ufeff":   "zero⟨U+200B⟩width⟨U+FEFF⟩",
		"nul\x00bell\x07esc\x1b[": "nul⟨U+0000⟩bell⟨U+0007⟩esc⟨U+001B⟩[",
		"filler\u3164":            "filler⟨U+3164⟩",
		"tag\U000e0041":           "tag⟨U+E0041⟩",
		"bad\xffbyte":             "bad⟨FF⟩byte",
		"honest \ufffd":           "honest \ufffd",
		"<script>alert(1)":        "<script>alert(1)",
	} {
		require.Equal(t, want, payload.Visible(in))
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "one ⏎ two", payload.Line("one\ntwo", 20))
	require.Equal(t, "abc…", payload.Line("abcdef", 3))
	require.Equal(t, "ééé…", payload.Line(strings.Repeat("é", 1<<20), 3))
	require.Equal(t, "abc", payload.Line("abc", 3))
}

func TestShowPrints(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"b":1,"a":[true,null,{}],"c":{}}`: "{\n  \"b\": 1,\n  \"a\": [\n    true,\n    null,\n    {}\n  ],\n  \"c\": {}\n}",
		`12345678901234567890.10`:           "12345678901234567890.10",
		`"a\u202eb"`:                        `"a\u202eb"`,
		"\"\u2028\"":                        `"\u2028"`,
		`"\ud83d\ude00"`:                    `"😀"`,
		"\"\U000e0041\"":                    `"\udb40\udc41"`,
		`"</script><script>"`:               `"</script><script>"`,
		`{"javascript:alert(1)":"\"\\\n"}`:  "{\n  \"javascript:alert(1)\": \"\\\"\\\\\\n\"\n}",
		`[]`:                                `[]`,
		`null`:                              `null`,
	}
	for in, want := range tests {
		shown := redactor(t).Show("input", json.RawMessage(in))
		require.Equal(t, want, shown.Text, in)
		require.Equal(t, len(in), shown.Bytes)
		require.Zero(t, shown.Cut)
		require.False(t, shown.NotJSON)
		require.True(t, json.Valid([]byte(shown.Text)), "what is shown is the JSON")
	}
	require.Empty(t, redactor(t).Show("result", nil).Text)
}

func TestShowRedacts(t *testing.T) {
	t.Parallel()
	const in = `{"user":"ann","password":"p1","card":{"number":"4111","cvc":1},"list":[{"password":"p2"},["x",{"Password":{"deep":"p3"}}]]}`
	tests := map[string]struct {
		paths         []string
		root          string
		gone, visible []string
		count         int
	}{
		"nothing":       {nil, "input", nil, []string{"p1", "p2", "p3", "4111"}, 0},
		"one path":      {[]string{"input.card.number"}, "input", []string{"4111"}, []string{"cvc", "p1"}, 1},
		"all beneath":   {[]string{"input.card"}, "input", []string{"4111", "cvc"}, []string{"p1"}, 1},
		"at any depth":  {[]string{"*.password"}, "input", []string{"p1", "p2", "p3"}, []string{"ann", "4111"}, 3},
		"through lists": {[]string{"input.list.password"}, "input", []string{"p2", "p3"}, []string{"p1"}, 2},
		"an element":    {[]string{"input.list.1.1"}, "input", []string{"p3"}, []string{"p2", `"x"`}, 1},
		"another root":  {[]string{"result.card"}, "input", nil, []string{"4111"}, 0},
		"of a root":     {[]string{"result.card"}, "result", []string{"4111"}, nil, 1},
		"the whole":     {[]string{"input"}, "input", []string{"ann", "user"}, nil, 1},
		"not by suffix": {[]string{"*.word", "input.car"}, "input", nil, []string{"p1", "4111"}, 0},
		"star in midst": {[]string{"input.*.number"}, "input", []string{"4111"}, []string{"p1"}, 1},
	}
	for name, test := range tests {
		shown := redactor(t, test.paths...).Show(test.root, json.RawMessage(in))
		require.Equal(t, test.count, shown.Redacted, name)
		require.Equal(t, test.count, strings.Count(shown.Text, "⟦redacted⟧"), name)
		for _, gone := range test.gone {
			require.NotContains(t, shown.Text, gone, name)
		}
		for _, visible := range test.visible {
			require.Contains(t, shown.Text, visible, name)
		}
	}
}

func TestNewRedactorRefuses(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"":                 "is not a path",
		"input..card":      "is not a path",
		".input":           "is not a path",
		"inputs.card":      "want one of input, params, metadata",
		"password":         "or *",
		"input.card.":      "is not a path",
		"evidences.status": `begins with "evidences"`,
	} {
		_, err := payload.NewRedactor([]string{"input.fine", path})
		require.ErrorContains(t, err, want, path)
	}
}

// The cap counts what is left out, wherever it falls.
func TestShowCuts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 5<<20)
	shown := redactor(t).Show("result", json.RawMessage(`{"a":"`+long+`","b":2}`))
	require.LessOrEqual(t, len(shown.Text), payload.Most)
	require.Greater(t, len(shown.Text), payload.Most-4)
	require.InDelta(t, 10<<20-payload.Most, shown.Cut, 100)
	require.True(t, strings.HasPrefix(shown.Text, "{\n  \"a\": \"é"))

	many := "[" + strings.Repeat("1,", 100_000) + "1]"
	shown = redactor(t).Show("result", json.RawMessage(many))
	require.LessOrEqual(t, len(shown.Text), payload.Most)
	require.Greater(t, shown.Cut, 100_000)
	require.Less(t, shown.Cut, len(many))

	// A secret beyond the cap is not shown in what is before it, either.
	shown = redactor(t, "*.password").Show("input", json.RawMessage(`{"password":"`+strings.Repeat("s3cret", 1<<20)+`","b":2}`))
	require.NotContains(t, shown.Text, "s3cret")
	require.Contains(t, shown.Text, `"b": 2`)
	require.Zero(t, shown.Cut)
}

func TestShowDamaged(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{"a":`, `{"a":1} x`, "\xff", `{"password":"p"`} {
		shown := redactor(t).Show("input", json.RawMessage(in))
		require.True(t, shown.NotJSON, in)
		require.NotEmpty(t, shown.Text)
		shown = redactor(t, "*.password").Show("input", json.RawMessage(in))
		require.Equal(t, "⟦redacted⟧", shown.Text, "nobody knows what is in it")
		shown = redactor(t, "result.password").Show("input", json.RawMessage(in))
		require.NotEqual(t, "⟦redacted⟧", shown.Text, "no path leads here")
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "no ⟨U+202E⟩", redactor(t).Text("error", "no \u202e"))
	require.Equal(t, "⟦redacted⟧", redactor(t, "error").Text("error", "no"))
	require.Equal(t, "no", redactor(t, "error.message").Text("error", "no"))
}

// Deep nesting under a pattern of many stars must not cost its power.
func TestShowIsQuickWhateverIsNested(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	began := time.Now()
	shown := redactor(t, "*.a.*.b.*.c.*.d", "*.0.*.0.*.0.*.x").Show("input", json.RawMessage(deep))
	require.Positive(t, shown.Cut)
	require.Less(t, time.Since(began), 5*time.Second)
}

func FuzzShow(f *testing.F) {
	f.Add(`{"a":{"password":"x"},"b":[1,2,{"password":null}]}`)
	f.Add("\"\u202e\"")
	r, err := payload.NewRedactor([]string{"*.password"})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, in string) {
		shown := r.Show("input", json.RawMessage(in))
		require.LessOrEqual(t, len(shown.Text), payload.Most*9) // damaged bytes grow
		require.Equal(t, shown.Text, payload.Visible(shown.Text), "nothing hidden")
	})
}
