package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun_ExitCodes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"version":                       exitOK,
		"--help":                        exitOK,
		"serve --help":                  exitOK,
		"version superfluous":           exitUsage,
		"serve --config /nowhere.yaml":  exitUsage,
		"serve --nonsense":              exitUsage,
		"keys revoke":                   exitUsage,
		"keys create --owner":           exitUsage,
		"dev --log xml":                 exitUsage,
		"doctor --redis redis://[":      exitFailed,
		"doctor --redis 127.0.0.1:1":    exitFailed,
		"doctor --process --addr 1":     exitUsage,
		"keys list --redis redis://::1": exitFailed,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			require.Equal(t, want, run(strings.Fields(line), &out, &errs), "%s%s", &out, &errs)
			if want != exitOK {
				require.Equal(t, 1, strings.Count(errs.String(), "onejob:"), errs.String())
				require.NotContains(t, errs.String(), "goroutine")
			}
		})
	}
}

func TestRun_EveryCommandIsExplained(t *testing.T) {
	t.Parallel()
	for _, c := range newRoot().Commands() {
		require.NotEmpty(t, c.Short, c.Name())
	}
}
