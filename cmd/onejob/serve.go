package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"onejob/app"
)

func newServe() *cobra.Command {
	return process("serve", "Serve the API and work for the providers, in one process", app.WithAPI(), app.WithWorker())
}

func newAPI() *cobra.Command {
	return process("api", "Serve the API; the work is done by `onejob worker`", app.WithAPI())
}

func newWorker() *cobra.Command {
	return process("worker", "Work for the providers; serves /healthz, /readyz and /metrics", app.WithWorker())
}

// process is a command that runs one until it is told to stop.
func process(use, short string, opts ...app.Option) *cobra.Command {
	var s settings
	c := &cobra.Command{Use: use, Short: short, Args: noArgs}
	s.register(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		collectSeldom()
		cfg, err := s.load()
		if err != nil {
			return err
		}
		log, err := s.log(c.ErrOrStderr())
		if err != nil {
			return err
		}
		opts := append(opts, app.WithLog(log), app.WithVersion(versionText()))
		if devKeys() {
			opts = append(opts, app.WithDevKeys())
		}
		a := app.New(cfg, opts...)
		if err := a.Run(c.Context()); err != nil {
			return wrongContract(fmt.Errorf("%s: %w", use, err))
		}
		return nil
	}
	return c
}

// garbage is how much may come to what is in use before Go collects it, in percent.
const garbage = 400

// collectSeldom trades some megabytes for an eighth of the processor time: a process
// has little in memory for long, and makes much garbage, so that by Go's default the
// collector would run dozens of times a second. GOGC has the last word.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
