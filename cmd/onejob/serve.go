package main

import (
	"fmt"
	"runtime"

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
		defer runtime.KeepAlive(collectSeldom())
		cfg, err := s.load()
		if err != nil {
			return err
		}
		lines := newLogLines(c.ErrOrStderr())
		defer lines.flush()
		log, err := s.log(lines)
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

// ballast is how much more than it is the collector takes what is in use for, in bytes.
const ballast = 16 << 20

// collectSeldom trades some megabytes for an eighth of the processor time: a process
// has little in memory for long, and makes much garbage, so that by Go's default the
// collector would run dozens of times a second. Nobody touches what is returned, so it
// takes no memory of the machine; but as much garbage comes before the next collection,
// however much is in use besides. It must be kept alive.
func collectSeldom() []byte { return make([]byte, ballast) }
