package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
)

// usageError is a mistake of the caller's.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// run is main without the process: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)

	// Commands tell what matters themselves; processes give it to their log.
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)})

	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "onejob:", plain(err.Error()))
		if what := hint(err); what != "" {
			_, _ = fmt.Fprintln(stderr, " ", plain(what))
		}
	}
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:               "onejob",
		Short:             "One click, one job: durable jobs in front of slow, costly, flaky providers",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see onejob %s --help", err, c.Name())}
	})
	root.AddCommand(newDev(), newServe(), newAPI(), newWorker(), newDemo(), newSubmit(), newJobs(), newKeys(), newDoctor(), newFsck(), newSchema(), newContract(), newVersion())
	return root
}

// noArgs refuses arguments, as the usage error it is.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
}
