package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the help texts into docs/cli.md")

const (
	cliPage  = "../../docs/cli.md"
	generate = "<!-- What follows is what --help says; go test ./cmd/onejob -run TestCLIPage -update writes it. -->\n"
)

// TestCLIPage: docs/cli.md ends with the help of every command, to the letter.
func TestCLIPage(t *testing.T) { //nolint:paralleltest // the environment is part of the help
	for _, name := range []string{"ONEJOB_CONFIG", "ONEJOB_REDIS_URL", "ONEJOB_ADDR", "ONEJOB_URL", "ONEJOB_API_KEY"} {
		t.Setenv(name, "")
	}
	page, err := os.ReadFile(cliPage)
	require.NoError(t, err)
	written, _, ok := strings.Cut(string(page), generate)
	require.True(t, ok, "the page has lost its mark")
	want := written + generate + helpOf(t, newRoot())
	if *update {
		require.NoError(t, os.WriteFile(cliPage, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(page), "run it with -update")
}

// helpOf is the help of c and of all below it.
func helpOf(t *testing.T, c *cobra.Command) string {
	t.Helper()
	text := ""
	if c.HasParent() {
		var out bytes.Buffer
		c.SetOut(&out)
		require.NoError(t, c.Help())
		text = "\n## " + c.CommandPath() + "\n\n```\n" + strings.TrimSpace(out.String()) + "\n```\n"
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			text += helpOf(t, below)
		}
	}
	return text
}

// TestCLIPage_HasEveryExitCode: the page and the help texts name them all.
func TestCLIPage_HasEveryExitCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(cliPage)
	require.NoError(t, err)
	for _, code := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"} {
		require.Contains(t, string(page), "\n| "+code+" | ")
		require.Regexp(t, `(?s)\b`+code+`\s`, exitCodes)
	}
}
