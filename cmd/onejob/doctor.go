package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"onejob/app"
	"onejob/config"
)

const doctorTime = 15 * time.Second

func newDoctor() *cobra.Command {
	var s settings
	var process, asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this Redis keeps the promises, or whether a process is ready",
		Long: `Say whether this Redis keeps the promises: persistence, eviction policy, version,
clock and latency. With --process, ask the process at --addr whether it is ready,
as the health check of a container does. Exit code 1 if anything is bad.`,
		Args: noArgs,
	}
	s.register(c)
	c.Flags().BoolVar(&process, "process", false, "ask the process at --addr instead")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(c.Context(), doctorTime)
		defer cancel()
		if process {
			return s.askProcess(ctx)
		}
		target, err := s.target()
		if err != nil {
			return err
		}
		return printFindings(c.OutOrStdout(), app.Examine(ctx, target), asJSON)
	}
	return c
}

// target is the Redis that is meant: --redis alone is enough, a configuration
// says what it must promise.
func (s *settings) target() (config.Redis, error) {
	if s.config == "" && s.redis != "" {
		return config.Redis{URL: s.redis, Durability: config.DurabilityAny}, nil
	}
	cfg, err := s.load()
	if err != nil {
		return config.Redis{}, err
	}
	return cfg.Redis, nil
}

var errUnwell = errors.New("not well: see above")

func printFindings(w io.Writer, findings []app.Finding, asJSON bool) error {
	bad := false
	for _, f := range findings {
		bad = bad || f.Verdict == app.Bad
	}
	if asJSON {
		if err := json.NewEncoder(w).Encode(findings); err != nil {
			return fmt.Errorf("writing what was found: %w", err)
		}
	} else {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, f := range findings {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", f.Verdict, f.What, f.Found)
			if f.Hint != "" {
				_, _ = fmt.Fprintf(table, "\t\t%s\n", f.Hint)
			}
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("writing what was found: %w", err)
		}
	}
	if bad {
		return errUnwell
	}
	return nil
}

// askProcess asks /readyz of the process on this machine.
func (s *settings) askProcess(ctx context.Context) error {
	addr := s.addr
	if addr == "" {
		cfg, err := s.load()
		if err != nil {
			return err
		}
		addr = cfg.Server.Addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError{fmt.Errorf("--addr %s: %w", addr, err)}
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1" // it listens everywhere
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
	if err != nil {
		return fmt.Errorf("asking the process: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the process: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return fmt.Errorf("not ready (%s): %s", response.Status, body)
	}
	return nil
}
