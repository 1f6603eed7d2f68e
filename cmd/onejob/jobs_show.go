package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"onejob/client"
)

func newJobsShow() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use: "show ID", Short: "Show a job: its attempts, what blocks it and what can be done", Args: exactly(1, oneJob),
	}
	r.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		server, err := r.client(newScreen(c.ErrOrStderr(), r.json))
		if err != nil {
			return err
		}
		job, err := server.Get(c.Context(), args[0])
		if err != nil {
			return err
		}
		if r.json {
			return writeJSON(c.OutOrStdout(), job)
		}
		return describe(c.OutOrStdout(), job, time.Now())
	}
	return c
}

// describe writes all of a job that a person wants to know.
func describe(w io.Writer, job *client.Job, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { _, _ = fmt.Fprintf(table, name+"\t"+format+"\n", args...) }
	row("job", "%s", cell(job.ID))
	row("state", "%s", standing(job))
	row("route", "%s", cell(job.Route))
	row("owner", "%s", cell(job.Owner))
	row("key", "%s", cell(job.IdempotencyKey))
	row("version", "%d", job.Version)
	row("made", "%s, %s", age(job.CreatedAt, now), job.CreatedAt.Format(time.RFC3339))
	if !job.EndedAt.IsZero() {
		row("ended", "%s, after %s", age(job.EndedAt, now), job.EndedAt.Sub(job.CreatedAt).Round(time.Millisecond))
	}
	if !job.ExpiresAt.IsZero() {
		row("record", "kept until %s", job.ExpiresAt.Format(time.RFC3339))
	}
	for _, line := range situation(job, now) {
		row(line.name, "%s", line.text)
	}
	if err := table.Flush(); err != nil {
		return err //nolint:wrapcheck // of the terminal
	}
	if err := describeAttempts(w, job, now); err != nil {
		return err
	}
	if job.Result != nil {
		_, _ = fmt.Fprintf(w, "\nresult of attempt %d\n%s\n", job.CompletedBy, indented(job.Result))
	}
	return nil
}

// line is a name and what is to be said under it.
type line struct{ name, text string }

// situation is why the job stands as it does, and what can be done about it.
func situation(job *client.Job, now time.Time) []line {
	var lines []line
	add := func(name, format string, args ...any) {
		lines = append(lines, line{name, fmt.Sprintf(format, args...)})
	}
	if e := job.Error; e != nil {
		add("error", "%s: %s", cell(e.Code), spellLine(e.Message))
		if e.Hint != "" {
			add("", "%s", spellLine(e.Hint))
		}
	}
	if job.Hold != "" {
		add("held", "%s", spellLine(job.Hold))
	}
	var actions []string
	if b := job.BlockedBy; b != nil {
		text := fmt.Sprintf("attempt %d, %s since %s", b.Attempt, cell(string(b.State)), strings.TrimSuffix(age(b.Since, now), " ago"))
		if b.Reason != "" {
			text += " (" + cell(b.Reason) + ")"
		}
		add("blocked by", "%s", text)
		if !b.ListeningUntil.IsZero() {
			add("", "a late answer still settles it: %s", age(b.ListeningUntil, now))
		}
		if !b.NextLookupAt.IsZero() {
			add("", "the provider is asked about it: %s", age(b.NextLookupAt, now))
		}
		actions = b.Actions
	} else if job.Next != nil && job.Next.Call != "" {
		actions = []string{job.Next.Call}
	}
	for i, action := range actions {
		name := ""
		if i == 0 {
			name = "can be done"
		}
		add(name, "%s", command(job.ID, action))
	}
	return lines
}

// spellLine is plain on one line, of any length.
func spellLine(s string) string { return plain(strings.Join(strings.Fields(s), " ")) }

// command is what to type for a call of the HTTP API; the call where there is none.
func command(id, action string) string {
	_, path, ok := strings.Cut(action, "/v1/jobs/"+id)
	if !ok {
		return spellLine(action)
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch base := "onejob jobs "; {
	case path == "/cancel":
		return base + "cancel " + id + " --reason …"
	case path == "/attempts":
		return base + "retry " + id + " --reason …"
	case len(parts) == 3 && parts[0] == "attempts" && parts[2] == "cancel":
		return base + "cancel " + id + " --attempt " + cell(parts[1]) + " --reason …"
	case len(parts) == 3 && parts[0] == "attempts" && parts[2] == "resolve":
		return base + "resolve " + id + " --attempt " + cell(parts[1]) + " --outcome … --reason …"
	}
	return spellLine(action)
}

func describeAttempts(w io.Writer, job *client.Job, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nATTEMPT\tPROVIDER\tSTATE\tREASON\tEFFECT\tSENT\tERROR")
	for i := range job.Attempts {
		a := &job.Attempts[i]
		_, _ = fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", a.Number, cell(a.Provider), cell(string(a.State)), cell(a.Reason),
			cell(a.Effect), age(a.SentAt, now), cell(a.Error))
	}
	if len(job.Webhooks) > 0 {
		_, _ = fmt.Fprintln(table, "\nDELIVERY\tEVENT\tSTATE\tTRIES\tSTATUS\tNEXT\tERROR")
	}
	for i := range job.Webhooks {
		h := &job.Webhooks[i]
		_, _ = fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%d\t%s\t%s\n", h.Number, cell(h.Event), cell(h.State), h.Tries, h.LastStatus,
			age(h.NextAt, now), cell(h.LastError))
	}
	return table.Flush() //nolint:wrapcheck // of the terminal
}
