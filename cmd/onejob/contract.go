package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"onejob/app"
	"onejob/config"
	"onejob/contracts"
)

func newContract() *cobra.Command {
	c := &cobra.Command{Use: "contract", Short: "Prove providers against the contracts of their routes"}
	c.AddCommand(newContractVerify(), newContractShow(), newContractExport())
	return c
}

// pairFlags name the providers of routes that are meant; without them, all.
type pairFlags struct{ route, provider string }

func (p *pairFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&p.route, "route", "", "only this route")
	c.Flags().StringVar(&p.provider, "provider", "", "only this provider")
}

// entries are the meant ones; none is a mistake of the caller's.
func (p *pairFlags) entries(book *contracts.Book) ([]contracts.Entry, error) {
	entries := book.Entries(p.route, p.provider)
	if len(entries) == 0 {
		return nil, usageError{errors.New("no route with a contract has that name and provider; see routes.*.contract in the configuration")}
	}
	return entries, nil
}

func (s *settings) withContracts(
	ctx context.Context, do func(context.Context, *config.Config, *contracts.Book, *contracts.Store) error,
) error {
	cfg, err := s.load()
	if err != nil {
		return err
	}
	return wrongContract(app.WithContracts(ctx, cfg, func(ctx context.Context, book *contracts.Book, store *contracts.Store) error {
		return do(ctx, cfg, book, store)
	}))
}

// wrongContract makes a contract file with mistakes the usage error it is.
func wrongContract(err error) error {
	if _, ok := errors.AsType[contracts.Problems](err); ok {
		return usageError{err}
	}
	return err
}

var errNotProven = errors.New("not proven: see above")

func newContractVerify() *cobra.Command {
	var s settings
	var pair pairFlags
	var runs int
	c := &cobra.Command{
		Use: "verify", Short: "Call providers for real and certify those that satisfy the contract", Args: noArgs,
		Long: `Call the providers of routes with a contract for real, as the route would, and
store a certificate for each that satisfies what the contract requires. Every call
costs what such a call costs. Exit code 1 if one does not.`,
	}
	s.register(c)
	pair.register(c)
	c.Flags().IntVar(&runs, "runs", 1, "how often every test runs")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if runs < 1 {
			return usageError{fmt.Errorf("--runs %d: want at least 1", runs)}
		}
		return s.withContracts(c.Context(), func(ctx context.Context, cfg *config.Config, book *contracts.Book, store *contracts.Store) error {
			entries, err := pair.entries(book)
			if err != nil {
				return err
			}
			verifier := contracts.Verifier{Lifetime: cfg.Certificates.Lifetime}
			var failed error
			for _, e := range entries {
				report, err := verifier.Run(ctx, e.Contract, e.Target, runs, progress(c.ErrOrStderr()))
				if err != nil {
					return fmt.Errorf("verifying: %w", err)
				}
				if err := errors.Join(report.Write(c.OutOrStdout()), store.Keep(ctx, report, time.Now())); err != nil {
					return fmt.Errorf("keeping the report: %w", err)
				}
				if report.Certificate == nil {
					failed = errNotProven
				}
			}
			return failed
		})
	}
	return c
}

func progress(w io.Writer) func(contracts.Progress) {
	return func(p contracts.Progress) {
		verdict := "ok"
		if !p.OK {
			verdict = "FAILED"
		}
		_, _ = fmt.Fprintf(w, "%s %s  %d/%d  %s: %s (%v)\n", p.Route, p.Provider, p.Call, p.Of, p.What, verdict, p.Took.Round(time.Millisecond))
	}
}

func newContractShow() *cobra.Command {
	var s settings
	var asJSON bool
	c := &cobra.Command{Use: "show", Short: "Show how the certificates stand", Args: noArgs}
	s.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return s.withContracts(c.Context(), func(ctx context.Context, _ *config.Config, book *contracts.Book, _ *contracts.Store) error {
			standings, err := book.Standings(ctx)
			if err != nil {
				return fmt.Errorf("reading the certificates: %w", err)
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(standings)
			}
			return contracts.WriteStandings(c.OutOrStdout(), standings)
		})
	}
	return c
}

func newContractExport() *cobra.Command {
	var s settings
	var pair pairFlags
	c := &cobra.Command{
		Use: "export --route ROUTE", Short: "Write a contract as a file for promptfoo, with the assertions both know", Args: noArgs,
	}
	s.register(c)
	pair.register(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if pair.route == "" {
			return usageError{errors.New("--route is missing: whose contract?")}
		}
		return s.withContracts(c.Context(), func(_ context.Context, _ *config.Config, book *contracts.Book, _ *contracts.Store) error {
			entries, err := pair.entries(book)
			if err != nil {
				return err
			}
			targets := make([]contracts.Target, len(entries))
			for i, e := range entries {
				targets[i] = e.Target
			}
			file, err := entries[0].Contract.Export(targets...)
			if err != nil {
				return fmt.Errorf("exporting: %w", err)
			}
			if _, err := c.OutOrStdout().Write(file); err != nil {
				return fmt.Errorf("writing the export: %w", err)
			}
			return nil
		})
	}
	return c
}
