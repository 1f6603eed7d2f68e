package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"onejob/app"
)

func newSchema() *cobra.Command {
	var s settings
	var asJSON bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "Say which schema new jobs are recorded with, and who can read it",
		Long: `Say which schema new jobs are recorded with, how many are stored of each, and up to
which each process reads. A new version of onejob writes what the old one can read
until onejob schema set says that the old one has gone (docs/deploy.md, "Upgrading").`,
		Args: noArgs,
	}
	s.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := s.load()
		if err != nil {
			return err
		}
		found, err := app.ExamineSchemas(c.Context(), cfg)
		if err != nil {
			return fmt.Errorf("looking at the schemas: %w", err)
		}
		if asJSON {
			return json.NewEncoder(c.OutOrStdout()).Encode(found)
		}
		return saySchemas(c.OutOrStdout(), found)
	}
	c.AddCommand(newSchemaSet())
	return c
}

func saySchemas(w io.Writer, found app.Schemas) error {
	_, _ = fmt.Fprintf(w, "New jobs are recorded with schema %d. This onejob reads up to %d.\n\n", found.Written, found.Reads)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SCHEMA\tJOBS STORED")
	for _, schema := range slices.Sorted(maps.Keys(found.Stored)) {
		_, _ = fmt.Fprintf(table, "%s\t%d\n", cell(schema), found.Stored[schema])
	}
	_, _ = fmt.Fprintln(table, "\nPROCESS\tKIND\tHOST\tPID\tVERSION\tREADS UP TO")
	for _, p := range found.Processes {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%d\n", cell(p.ID), cell(string(p.Kind)), cell(p.Host), p.PID, cell(p.Version), p.Reads)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing what was found: %w", err)
	}
	return nil
}

func newSchemaSet() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "set N",
		Short: "Have new jobs recorded with schema N, by all processes, within seconds",
		Long: `Have new jobs recorded with schema N, by all processes, within seconds. It is refused
while a process is there that could not read them. Stored jobs keep the schema they
have. Set the older one before you go back to a version that reads only that.`,
		Args: oneSchema,
	}
	s.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := s.load()
		if err != nil {
			return err
		}
		schema, _ := strconv.Atoi(args[0])
		if err := app.SetSchema(c.Context(), cfg, schema); err != nil {
			return fmt.Errorf("setting the schema: %w", err)
		}
		_, _ = fmt.Fprintf(c.ErrOrStderr(), "New jobs are recorded with schema %d.\n", schema)
		return nil
	}
	return c
}

// oneSchema wants the number of a schema.
func oneSchema(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		if n, err := strconv.Atoi(args[0]); err == nil && n > 0 {
			return nil
		}
	}
	return usageError{fmt.Errorf("want one number of a schema, as in onejob schema")}
}
