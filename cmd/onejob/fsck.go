package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"onejob/app"
	"onejob/recovery"
)

var errDisagrees = errors.New("the store does not agree with itself; --repair makes it")

func newFsck() *cobra.Command {
	var s settings
	var repair, asJSON bool
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Compare indexes, due sets and queues with the records of all jobs",
		Long: `Compare indexes, due sets, times to live and queues with the records of all jobs.
It can run beside a live system. With --repair, make them follow the records.
Exit code 1 if something disagrees and was not repaired.`,
		Args: noArgs,
	}
	s.register(c)
	c.Flags().BoolVar(&repair, "repair", false, "mend what disagrees")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs: a line a finding")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := s.load()
		if err != nil {
			return err
		}
		left := 0
		checked, err := app.Fsck(c.Context(), cfg, repair, func(f recovery.Finding) {
			if !f.Repaired {
				left++
			}
			printFinding(c, f, asJSON)
		})
		if err != nil {
			return fmt.Errorf("fsck: %w", err)
		}
		_, _ = fmt.Fprintf(c.ErrOrStderr(), "%d jobs and %d queued tasks checked, %d findings, %d left\n",
			checked.Jobs, checked.Tasks, checked.Findings, left)
		if checked.Newer > 0 {
			_, _ = fmt.Fprintf(c.ErrOrStderr(), "%d jobs were written by a newer onejob and not compared: run its fsck\n", checked.Newer)
		}
		if left > 0 {
			return errDisagrees
		}
		return nil
	}
	return c
}

func printFinding(c *cobra.Command, f recovery.Finding, asJSON bool) {
	if asJSON {
		_ = json.NewEncoder(c.OutOrStdout()).Encode(f)
		return
	}
	mark := "found"
	if f.Repaired {
		mark = "repaired"
	}
	_, _ = fmt.Fprintf(c.OutOrStdout(), "%s  %s  %s: %s\n", mark, f.Job, f.Where, f.What)
}
