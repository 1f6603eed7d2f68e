package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"onejob/client"
)

// resolving is what the flags of jobs resolve say.
type resolving struct {
	deciding
	attempt               int
	outcome, result, then string
}

func newJobsResolve() *cobra.Command {
	var r resolving
	c := &cobra.Command{
		Use:   "resolve ID --attempt N --outcome OUTCOME --reason WHY",
		Short: "Say what became of an attempt whose outcome nobody saw (operators)", Args: exactly(1, oneJob),
		Long: `Say what became of an unknown attempt, after you have looked at the provider:
succeeded, with the result as JSON; failed; or cancelled, which accepts that its
effect may happen twice. It takes a key of the role operator.`,
		Example: `  onejob jobs resolve job_… --attempt 1 --outcome succeeded --result page.json --reason "it is in the tray"`,
	}
	r.register(c)
	f := c.Flags()
	f.IntVar(&r.attempt, "attempt", 0, "`number` of the attempt")
	f.StringVar(&r.outcome, "outcome", "", "succeeded, failed or cancelled")
	f.StringVar(&r.result, "result", "", "`file` with the result as JSON, or - for standard input; with succeeded only")
	registerThen(c, &r.then)
	c.RunE = func(c *cobra.Command, args []string) error {
		resolution, err := r.resolution(c)
		if err != nil {
			return err
		}
		return r.run(c, func(ctx context.Context, server *client.Client, why client.Decision) (*client.Job, error) {
			resolution.Decision = why
			return server.Resolve(ctx, args[0], r.attempt, resolution)
		})
	}
	return c
}

func (r *resolving) resolution(c *cobra.Command) (client.Resolution, error) {
	out := client.Resolution{Outcome: client.AttemptState(r.outcome)}
	won := out.Outcome == client.AttemptSucceeded
	goOn, err := continues(r.then)
	out.Continue = goOn
	switch {
	case err != nil:
		return out, err
	case r.attempt < 1:
		return out, usageError{errors.New("--attempt is missing: which one? Give its number, from 1")}
	case !won && out.Outcome != client.AttemptFailed && out.Outcome != client.AttemptCancelled:
		return out, usageError{fmt.Errorf("--outcome %q: want succeeded, failed or cancelled", r.outcome)}
	case won && r.result == "":
		return out, usageError{errors.New("--result is missing: succeeded with what? Give a file with JSON, or -")}
	case !won && r.result != "":
		return out, usageError{errors.New("--result belongs to --outcome succeeded alone")}
	case won && goOn:
		return out, usageError{errors.New("--then does not go with --outcome succeeded, which ends the job")}
	}
	if won {
		result, err := readJSON(c.InOrStdin(), r.result)
		if err != nil {
			return out, err
		}
		out.Result = result
	}
	return out, nil
}
