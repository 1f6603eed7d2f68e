package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"onejob/client"
)

// deciding is what commands that decide about a job have in common.
type deciding struct {
	remote
	reason  string
	version int64
}

func (d *deciding) register(c *cobra.Command) {
	d.remote.register(c)
	c.Flags().StringVar(&d.reason, "reason", "", "why, for the job's trail; must be given")
	c.Flags().Int64Var(&d.version, "expect-version", 0, "only if the job is still at this version, as jobs show has it")
}

func (d *deciding) decision() (client.Decision, error) {
	if d.reason == "" {
		return client.Decision{}, usageError{errors.New("--reason is missing: why? It goes on the job's trail")}
	}
	return client.Decision{Reason: d.reason, ExpectVersion: d.version}, nil
}

// run makes the decision and says how the job stands after it.
func (d *deciding) run(
	c *cobra.Command, decide func(context.Context, *client.Client, client.Decision) (*client.Job, error),
) error {
	decision, err := d.decision()
	if err != nil {
		return err
	}
	server, err := d.client(newScreen(c.ErrOrStderr(), d.json))
	if err != nil {
		return err
	}
	job, err := decide(c.Context(), server, decision)
	if err != nil {
		return err
	}
	if d.json {
		return writeJSON(c.OutOrStdout(), job)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s  %s\n", cell(job.ID), standing(job))
	return err //nolint:wrapcheck // of the terminal
}

func newJobsCancel() *cobra.Command {
	var d deciding
	var attempt int
	var then string
	c := &cobra.Command{
		Use: "cancel ID --reason WHY", Short: "Cancel a job, or one attempt of it with --attempt", Args: exactly(1, oneJob),
		Long: `Cancel a job and all its open attempts; with --attempt that attempt alone. A call
that has left may still have its effect: what comes of it is recorded, not applied.`,
	}
	d.register(c)
	c.Flags().IntVar(&attempt, "attempt", 0, "`number` of the attempt")
	registerThen(c, &then)
	c.RunE = func(c *cobra.Command, args []string) error {
		whole := !c.Flags().Changed("attempt")
		goOn, err := continues(then)
		switch {
		case err != nil:
			return err
		case !whole && attempt < 1:
			return usageError{fmt.Errorf("--attempt %d: want a number from 1", attempt)}
		case whole && goOn:
			return usageError{errors.New("--then goes with --attempt: a job that is cancelled is over")}
		}
		return d.run(c, func(ctx context.Context, server *client.Client, why client.Decision) (*client.Job, error) {
			if whole {
				return server.Cancel(ctx, args[0], why)
			}
			return server.CancelAttempt(ctx, args[0], attempt, goOn, why)
		})
	}
	return c
}

func registerThen(c *cobra.Command, then *string) {
	c.Flags().StringVar(then, "then", "", "`continue`: go on by the route's plan, as after a failure that may be retried")
}

func continues(then string) (bool, error) {
	if then != "" && then != "continue" {
		return false, usageError{fmt.Errorf("--then %q: want continue", then)}
	}
	return then != "", nil
}

func newJobsRedeliver() *cobra.Command {
	var d deciding
	c := &cobra.Command{
		Use: "redeliver ID NUMBER --reason WHY", Short: "Make a delivery of a job's webhook again",
		Args: exactly(2, "a job id and the number of a delivery, as in onejob jobs show"),
	}
	d.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		number, err := positive("delivery", args[1])
		if err != nil {
			return err
		}
		return d.run(c, func(ctx context.Context, server *client.Client, why client.Decision) (*client.Job, error) {
			return server.Redeliver(ctx, args[0], number, why)
		})
	}
	return c
}
