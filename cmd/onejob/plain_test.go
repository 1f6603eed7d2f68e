package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Grüße, 世界 🙂":        "Grüße, 世界 🙂",
		"a\nb\tc":            "a\nb\tc",
		"\x1b[2J\x07":        `\u001b[2J\u0007`,
		"\u009b31m":          `\u009b31m`,
		"\u202egnp.exe":      `\u202egnp.exe`,
		"a\rb":               `a\u000db`,
		"bad\xff\xfe":        `bad\xff\xfe`,
		"tag \U000e0041 tag": `tag \U000e0041 tag`,
	} {
		require.Equal(t, want, plain(in))
	}
	require.Equal(t, `a\u000ab`, cell("a\nb"), "a cell is one line")
	require.Equal(t, "-", cell(""))
	require.Len(t, []rune(cell(strings.Repeat("ü", 100))), 60)
}

// TestWriteJSON_SaysTheSame: what is escaped reads as what it was.
func TestWriteJSON_SaysTheSame(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"a":"\u001b\u009b\u202e\u2028\ud83d\ude00 \udb40\udc41 <&>","n":9007199254740993}`)
	var out bytes.Buffer
	require.NoError(t, writeJSON(&out, raw))
	require.JSONEq(t, string(raw), out.String())
	require.Contains(t, out.String(), "9007199254740993")
	require.Contains(t, out.String(), "<&>")
	require.NotContains(t, out.String(), "\u009b")
	require.JSONEq(t, string(raw), indented(raw))
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "0s ago", 59 * time.Second: "59s ago", time.Minute: "1m ago", 90 * time.Minute: "1h ago", 47 * time.Hour: "47h ago",
		48 * time.Hour: "2d ago", -500 * time.Millisecond: "0s ago", -10 * time.Minute: "in 10m",
	} {
		require.Equal(t, want, age(now.Add(-d), now))
	}
	require.Equal(t, "-", age(time.Time{}, now))
}
