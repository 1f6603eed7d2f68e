package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ratiosHere has a commit measure itself on this machine, by its own guard: a ratio is
// of the machine, too. It needs git and the commit.
func ratiosHere(ctx context.Context, commit string) (all ratios, err error) {
	dir, err := os.MkdirTemp("", "onejob-guard-")
	if err != nil {
		return nil, fmt.Errorf("making room for commit %s: %w", commit, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree, file := filepath.Join(dir, "tree"), filepath.Join(dir, "guard.json")
	if err := told(exec.CommandContext(ctx, "git", "worktree", "add", "--detach", tree, commit)); err != nil {
		return nil, fmt.Errorf("laying commit %s out: %w", commit, err)
	}
	defer func() {
		err = errors.Join(err, told(exec.CommandContext(context.WithoutCancel(ctx), "git", "worktree", "remove", "--force", tree)))
	}()
	measuring := exec.CommandContext(ctx, "go", "run", "./e2e/bench", "-guard", file, "-write")
	measuring.Dir = tree
	if err := told(measuring); err != nil {
		return nil, fmt.Errorf("having commit %s measure itself: %w", commit, err)
	}
	kept, err := readGuard(file)
	return kept.Ratios, err
}

// told runs a command, and puts what it said into the error.
func told(c *exec.Cmd) error {
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, out)
	}
	return nil
}
