package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked for did not work
	exitUsage  = 2 // the command line or the configuration is wrong
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
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(stderr, "onejob:", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
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
	root.AddCommand(newDev(), newServe(), newAPI(), newWorker(), newDemo(), newKeys(), newDoctor(), newFsck(), newContract(), newVersion())
	return root
}

// noArgs refuses arguments, as the usage error it is.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
}
