package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func newJobs() *cobra.Command {
	c := &cobra.Command{
		Use: "jobs", Short: "List, show and watch jobs of a server; cancel, retry and resolve them",
		Long: `List, show and watch jobs, and decide about them, over the HTTP API of the server at
ONEJOB_URL with the key in ONEJOB_API_KEY.

` + exitCodes,
	}
	c.AddCommand(newJobsList(), newJobsShow(), newJobsWatch(), newJobsCancel(), newJobsRetry(), newJobsResolve(), newJobsRedeliver())
	return c
}

// exactly refuses any other number of arguments, as the usage error it is.
func exactly(n int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{errors.New("want " + want)}
		}
		return nil
	}
}

const oneJob = "one job id, as in onejob jobs list"

// positive reads a number of an attempt or a delivery.
func positive(what, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, usageError{fmt.Errorf("%s %q: want a number from 1", what, text)}
	}
	return n, nil
}
