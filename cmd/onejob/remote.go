package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"onejob/client"
)

// remote says which server a command talks to. The API key is never a flag: other
// users of the machine can read command lines.
type remote struct {
	url, keyFile string
	retryFor     time.Duration
	json         bool
}

const defaultURL = "http://127.0.0.1:8080"

func (r *remote) register(c *cobra.Command) {
	address := os.Getenv("ONEJOB_URL")
	if address == "" {
		address = defaultURL
	}
	f := c.Flags()
	f.StringVar(&r.url, "url", address, "`address` of the server (ONEJOB_URL)")
	f.StringVar(&r.keyFile, "api-key-file", "", "`file` that holds the API key, instead of ONEJOB_API_KEY")
	f.DurationVar(&r.retryFor, "retry-for", 10*time.Second, "how long to try again while the server does not answer")
	f.BoolVar(&r.json, "json", false, "for programs: JSON on standard output, no progress")
}

// client is one that tells the screen of what it repeats.
func (r *remote) client(s *screen) (*client.Client, error) {
	key, err := r.apiKey()
	if err != nil {
		return nil, err
	}
	c, err := client.New(r.url, key, client.WithRetryFor(r.retryFor), client.WithOnRetry(s.retried))
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

func (r *remote) apiKey() (string, error) {
	if r.keyFile == "" {
		if key := os.Getenv("ONEJOB_API_KEY"); key != "" {
			return key, nil
		}
		return "", usageError{errors.New("no API key: set ONEJOB_API_KEY, or give --api-key-file FILE (onejob dev has dev-key)")}
	}
	key, err := os.ReadFile(r.keyFile)
	if err != nil {
		return "", usageError{fmt.Errorf("--api-key-file: %w", err)}
	}
	return strings.TrimSpace(string(key)), nil
}

// isTerminal tells whether a person sits at the other end.
func isTerminal(end any) bool {
	file, ok := end.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// confirm asks before something is done that cannot be taken back. Without a
// terminal nobody can answer, and --yes has to say it.
func confirm(c *cobra.Command, question string) error {
	if !isTerminal(c.InOrStdin()) {
		return usageError{errors.New("nobody to ask at this end: give --yes to go on without")}
	}
	_, _ = fmt.Fprint(c.ErrOrStderr(), question, " [y/N] ")
	var line string
	if _, err := fmt.Fscanln(c.InOrStdin(), &line); err != nil && !errors.Is(err, io.EOF) && line == "" {
		return errDeclined
	}
	if line = strings.ToLower(strings.TrimSpace(line)); line != "y" && line != "yes" {
		return errDeclined
	}
	return nil
}

var errDeclined = errors.New("nothing was done")
