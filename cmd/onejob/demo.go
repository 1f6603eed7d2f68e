package main

import (
	"github.com/spf13/cobra"

	"onejob/demo"
)

func newDemo() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "demo",
		Short: "Play the four fractures against itself; exit code 1 if a promise broke",
		Args:  noArgs,
	}
	s.logFormat = "text"
	c.Flags().BoolVarP(&s.verbose, "verbose", "v", false, "show the log as well")
	c.RunE = func(c *cobra.Command, _ []string) error {
		log, err := s.log(c.ErrOrStderr())
		if err != nil {
			return err
		}
		if !s.verbose {
			log = nil
		}
		return demo.Run(c.Context(), c.OutOrStdout(), log)
	}
	return c
}
