package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"onejob/app"
	"onejob/webhooks"
)

func newDev() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "dev",
		Short: "Everything in one process with an embedded Redis, to try and to develop",
		Long: `Everything in one process: API, workers and an embedded Redis whose memory is
all it has. Without --config it plays the print shop: the route print with the
providers inkjet and laser. With --redis it uses that Redis instead.`,
		Args: noArgs,
	}
	s.register(c)
	c.Flags().Lookup("log").DefValue = "text"
	s.logFormat = "text"
	c.RunE = func(c *cobra.Command, _ []string) error { return s.dev(c) }
	return c
}

func (s *settings) dev(c *cobra.Command) error {
	cfg, err := s.loadOrDemo()
	if err != nil {
		return err
	}
	log, err := s.log(c.ErrOrStderr())
	if err != nil {
		return err
	}
	opts := []app.Option{app.WithAPI(), app.WithWorker(), app.WithDevKeys(), app.WithLog(log), app.WithVersion(versionText())}
	if s.redis == "" {
		opts = append(opts, app.WithEmbeddedRedis())
	}
	a := app.New(cfg, opts...)
	if err := a.Start(c.Context()); err != nil {
		return wrongContract(errors.Join(fmt.Errorf("dev: %w", err), a.Close()))
	}
	banner(c.OutOrStdout(), a.Addr(), s.redis == "", s.config == "")
	return a.Wait(c.Context())
}

// banner says where it is, what to type, and what it is not.
func banner(w io.Writer, addr string, embedded, demo bool) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	say("\nonejob dev is listening at http://%s", addr)
	if embedded {
		say("\n  EMBEDDED REDIS: memory is all it has. Everything is gone when this stops.")
	}
	say("\n  keys      dev-key (owner dev), other-key (owner other), dev-operator-key (operator)")
	say("  webhooks  to this machine, signed with %s for owner dev", webhooks.DevSecrets()["dev"])
	say("  look      http://%s/dashboard   sign in with dev-operator-key; the queues are at /monitor", addr)
	if demo {
		say("\nPrint a page. Send it twice: it is printed once.\n")
		say("  curl -s http://%s/v1/jobs -H 'Authorization: Bearer dev-key' \\", addr)
		say("    -H 'Idempotency-Key: page-1' -H 'Prefer: wait=5' -H 'Content-Type: application/json' \\")
		say(`    -d '{"route":"print","input":{"page":"Hello"}}'`)
		say("\nA printer that does not answer, under a key of its own:\n")
		say(`    -d '{"route":"print","input":{"page":"Hello","simulate":{"inkjet":{"outcome":"hang"}}}}'`)
	}
	say("")
}
