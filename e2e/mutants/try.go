package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// try returns the test that notices the mutant of the tree at root, empty when none
// does.
func (m *mutant) try(ctx context.Context, root string) (killedBy string, err error) {
	text, err := m.mutated(root)
	if err != nil {
		return "", err
	}
	failed, err := m.goTest(ctx, root, "")
	if err != nil {
		return "", err
	}
	if failed != "" {
		return "", fmt.Errorf("%s fails with the rule in place, too", failed)
	}
	dir, err := os.MkdirTemp("", "onejob-mutant-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the mutant: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := writeOverlay(dir, root, m.file, text)
	if err != nil {
		return "", err
	}
	return m.goTest(ctx, root, overlay)
}

// writeOverlay writes what `go help build` describes under -overlay: the text in the
// place of a file.
func writeOverlay(dir, root, file, text string) (string, error) {
	original, err := filepath.Abs(filepath.Join(root, file))
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", file, err)
	}
	instead, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]map[string]string{"Replace": {original: instead}})
	if err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	if err := errors.Join(os.WriteFile(instead, []byte(text), 0o600), os.WriteFile(overlay, data, 0o600)); err != nil {
		return "", fmt.Errorf("writing the mutant: %w", err)
	}
	return overlay, nil
}

// goTest runs the mutant's tests and returns the first that failed. An overlay goes
// into GOFLAGS, so that the binaries which tests build are mutants, too.
func (m *mutant) goTest(ctx context.Context, root, overlay string) (failed string, err error) {
	args := append([]string{"test", "-json", "-vet=off", "-ldflags=-s -w", "-timeout=5m"}, strings.Fields(m.test)...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	if overlay != "" {
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, runErr := cmd.Output()
	failed, passed, broken := verdict(out)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case broken != "" || len(out) == 0:
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), runErr, broken, stderr.String())
	case failed != "":
		return failed, nil
	case runErr != nil:
		return "", fmt.Errorf("`go %s` failed, and no test of it", strings.Join(args, " "))
	case !passed:
		return "", fmt.Errorf("`go test %s` runs no test, or skips all", m.test)
	}
	return "", nil
}

// event is a line of go test -json (go doc test2json).
type event struct{ Action, Test, Output, FailedBuild string }

// verdict reads the events of a run: the first test that failed, whether any passed,
// and what the compiler said when there was nothing to run.
func verdict(out []byte) (failed string, passed bool, broken string) {
	var said strings.Builder
	for line := range bytes.Lines(out) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		switch {
		case e.Action == "build-output":
			said.WriteString(e.Output)
		case e.Action == "fail" && e.FailedBuild != "":
			broken = said.String()
		case e.Action == "fail" && e.Test != "" && failed == "":
			failed = e.Test
		case e.Action == "pass" && e.Test != "":
			passed = true
		}
	}
	return failed, passed, broken
}

// packageOf is the folder of the package whose tests are run, and the regular
// expression of -run without those of sub-tests.
func (m *mutant) packageOf() (dir, tests string) {
	args := strings.Fields(m.test)
	if i := slices.Index(args, "-run"); i >= 0 && i+1 < len(args) {
		tests, _, _ = strings.Cut(args[i+1], "/")
	}
	return args[0], tests
}
