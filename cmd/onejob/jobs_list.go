package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"onejob/client"
)

// listing is what the flags of jobs list say.
type listing struct {
	remote
	query        client.Query
	state        string
	since, until string
	limit        int
}

func newJobsList() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Args: noArgs,
		Long: `List jobs, newest first, as a table; with --json a line a job. Keys of the role
submit see their owner's jobs only.`,
		Example: `  onejob jobs list --state unknown --limit 0`,
	}
	l.remote.register(c)
	f := c.Flags()
	f.StringVar(&l.state, "state", "", "queued, running, unknown, succeeded, failed or cancelled")
	f.StringVar(&l.query.Route, "route", "", "only of this route")
	f.StringVar(&l.query.Provider, "provider", "", "only those whose latest attempt is at this provider")
	f.StringVar(&l.query.Key, "key", "", "only with this idempotency key")
	f.StringVar(&l.query.Owner, "owner", "", "only of this owner")
	f.StringVar(&l.since, "since", "", "made at this `time` (RFC 3339) or later, or so long ago (2h) or less")
	f.StringVar(&l.until, "until", "", "made before this `time`, or longer ago than this")
	f.IntVar(&l.limit, "limit", 20, "how many at most; 0 for all")
	c.RunE = func(c *cobra.Command, _ []string) error { return l.run(c) }
	return c
}

func (l *listing) run(c *cobra.Command) (err error) {
	now := time.Now()
	l.query.State = client.State(l.state)
	if l.query.Since, err = moment("--since", l.since, now); err != nil {
		return err
	}
	if l.query.Until, err = moment("--until", l.until, now); err != nil {
		return err
	}
	if l.limit < 0 {
		return usageError{fmt.Errorf("--limit %d: want 0 for all, or more", l.limit)}
	}
	const largestPage = 100
	if l.query.PageSize = l.limit; l.limit == 0 || l.limit > largestPage {
		l.query.PageSize = largestPage
	}
	server, err := l.client(newScreen(c.ErrOrStderr(), l.json))
	if err != nil {
		return err
	}
	out := newJobTable(c.OutOrStdout(), now)
	if l.json {
		out = func(job *client.Job) error {
			if job == nil {
				return nil
			}
			return writeJSON(c.OutOrStdout(), job)
		}
	}
	n := 0
	for job, err := range server.List(c.Context(), l.query) {
		if err != nil {
			return err
		}
		if err := out(job); err != nil {
			return err
		}
		if n++; n == l.limit {
			break
		}
	}
	return out(nil)
}

// moment reads a time, or a duration before now.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, usageError{fmt.Errorf("%s %q: want a time like 2026-01-31T12:00:00Z, or a duration like 2h", flag, text)}
	}
	return at, nil
}

// newJobTable writes a row a job; nil ends the table.
func newJobTable(w io.Writer, now time.Time) func(*client.Job) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSTATE\tROUTE\tPROVIDER\tATTEMPTS\tAGE\tOWNER\tKEY")
	return func(job *client.Job) error {
		if job == nil {
			return table.Flush()
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", cell(job.ID), cell(string(job.State)), cell(job.Route),
			cell(job.Provider), len(job.Attempts), age(job.CreatedAt, now), cell(job.Owner), cell(job.IdempotencyKey))
		return err //nolint:wrapcheck // of the terminal
	}
}
