package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"onejob/client"
)

// watching is what jobs watch writes, and how far it has come.
type watching struct {
	remote
	timeout time.Duration
	c       *cobra.Command
	last    string // id of the event written last
}

func newJobsWatch() *cobra.Command {
	var w watching
	c := &cobra.Command{
		Use: "watch ID", Short: "Follow what happens to a job until it has ended", Args: exactly(1, oneJob),
		Long: `Write the trail of a job, a line an event, and go on live until the job has ended.
It outlasts restarts of the server. With --json an event a line.

` + exitCodes,
	}
	w.remote.register(c)
	c.Flags().DurationVar(&w.timeout, "timeout", 0, "watch no longer than this (default: for ever)")
	c.RunE = func(c *cobra.Command, args []string) error {
		w.c = c
		return w.run(args[0])
	}
	return c
}

func (w *watching) run(id string) error {
	server, err := w.client(newScreen(w.c.ErrOrStderr(), w.json))
	if err != nil {
		return err
	}
	ctx := w.c.Context()
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	// The end of the wait ends the events: those of a failed job would go on.
	following, stop := context.WithCancel(ctx)
	defer stop()
	var job *client.Job
	waited := make(chan error, 1)
	go func() {
		var err error
		job, err = server.Wait(ctx, id)
		stop()
		waited <- err
	}()
	for event, err := range server.Events(following, id, "") {
		if err != nil {
			break // the wait knows better
		}
		if err := w.write(event); err != nil {
			stop()
			return errors.Join(err, <-waited)
		}
	}
	if err := <-waited; err != nil {
		return err
	}
	if err := w.rest(ctx, server, id); err != nil {
		return err
	}
	return job.Err()
}

// rest writes what had not come over the stream when the job ended.
func (w *watching) rest(ctx context.Context, server *client.Client, id string) error {
	seen := w.last == ""
	for event, err := range server.Trail(ctx, id) {
		if err != nil {
			return err
		}
		if seen {
			if err := w.write(event); err != nil {
				return err
			}
		}
		seen = seen || event.ID == w.last
	}
	return nil
}

func (w *watching) write(e client.Event) error {
	out := w.c.OutOrStdout()
	if w.json {
		if err := writeJSON(out, e); err != nil {
			return err
		}
		w.last = e.ID
		return nil
	}
	text := fmt.Sprintf("%s  %s", e.At.Local().Format(time.TimeOnly), cell(e.Verb))
	if e.Attempt > 0 {
		text += fmt.Sprintf("  attempt %d", e.Attempt)
	}
	if e.To != "" {
		text += "  → " + cell(e.To)
	}
	if e.Reason != "" {
		text += "  " + cell(e.Reason)
	}
	if _, err := fmt.Fprintln(out, text+"  by "+cell(e.Actor)); err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	w.last = e.ID
	return nil
}
