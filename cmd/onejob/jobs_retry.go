package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"onejob/client"
)

func newJobsRetry() *cobra.Command {
	var d deciding
	var provider string
	var yes bool
	c := &cobra.Command{
		Use: "retry ID --reason WHY", Short: "Open the next attempt of a job, also of a failed one", Args: exactly(1, oneJob),
		Long: `Open the next attempt of a job. It says first what that would do, and asks; --yes
goes on without asking. What is opened is bound to the job as it was shown: if a
decision was made meanwhile, nothing is opened.`,
	}
	d.register(c)
	c.Flags().StringVar(&provider, "provider", "", "one of the route's (default: the latest attempt's)")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		return d.run(c, func(ctx context.Context, server *client.Client, why client.Decision) (*client.Job, error) {
			job, err := server.Get(ctx, args[0])
			if err != nil {
				return nil, err
			}
			if why.ExpectVersion == 0 {
				why.ExpectVersion = job.Version
			}
			preview(c, job, provider)
			if !yes {
				if err := confirm(c, "Open it?"); err != nil {
					return nil, err
				}
			}
			return server.Retry(ctx, args[0], provider, why)
		})
	}
	return c
}

// preview says what a retry would do. Whether it may, the server says.
func preview(c *cobra.Command, job *client.Job, provider string) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...) }
	say("%s  %s", cell(job.ID), standing(job))
	if job.Error != nil {
		say("  %s: %s", cell(job.Error.Code), spellLine(job.Error.Message))
	}
	if provider == "" {
		provider = job.Provider
	}
	say("  retry: attempt %d, a call of %s that may cost money or have an effect", nextNumber(job), cell(provider))
	for i := range job.Attempts {
		if a := &job.Attempts[i]; a.Effect != "none" {
			say("  the effect of attempt %d at %s is %s", a.Number, cell(a.Provider), cell(a.Effect))
		}
	}
	if job.Next != nil && !job.Next.Allowed {
		say("  as it stands it will be refused: %s", cell(job.Next.Why))
	}
}

func nextNumber(job *client.Job) int {
	if n := len(job.Attempts); n > 0 {
		return job.Attempts[n-1].Number + 1
	}
	return 1
}
