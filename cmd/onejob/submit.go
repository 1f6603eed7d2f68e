package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onejob/client"
)

// submission is what the flags of submit say.
type submission struct {
	remote
	route, key, provider, params, webhook string
	metadata                              []string
	startWithin, timeout                  time.Duration
	wait                                  bool
}

func newSubmit() *cobra.Command {
	var s submission
	c := &cobra.Command{
		Use:   "submit --route ROUTE FILE|-",
		Short: "Submit a job, and wait for its result with --wait",
		Long: `Submit a job whose input is the JSON in FILE, or on standard input. The key binds
the intent to one job for ever: run again with the same key and input, the command
finds that job. Key and job id are told on standard error before anything is waited
for. On standard output comes the job's id; with --wait the result; with --json the
whole job.

` + exitCodes,
		Example: `  echo '{"page":"Hello"}' | onejob submit --route print --key page-1 --wait -`,
	}
	s.remote.register(c)
	f := c.Flags()
	f.StringVar(&s.route, "route", "", "the kind of work")
	f.StringVar(&s.key, "key", "", "idempotency key; one is made, and told, if none is given")
	f.StringVar(&s.provider, "provider", "", "provider of the first attempt (default: the route's first)")
	f.StringVar(&s.params, "params", "", "options for the provider, as a `JSON` object")
	f.StringArrayVar(&s.metadata, "metadata", nil, "`name=value` to show with the job; may be repeated")
	f.DurationVar(&s.startWithin, "start-within", 0, "fail the job if nothing has started by then")
	f.StringVar(&s.webhook, "webhook-url", "", "`URL` to tell when the job has ended")
	f.BoolVar(&s.wait, "wait", false, "wait until the job has ended")
	f.DurationVar(&s.timeout, "timeout", 0, "wait no longer than this; the job goes on (default: for ever)")
	c.RunE = s.run
	return c
}

func (s *submission) run(c *cobra.Command, args []string) error {
	request, err := s.request(c.InOrStdin(), args)
	if err != nil {
		return err
	}
	screen := newScreen(c.ErrOrStderr(), s.json)
	server, err := s.client(screen)
	if err != nil {
		return err
	}
	screen.say("key %s", cell(request.Key)) // before it is sent: ^C at any time loses nothing
	job, err := server.Submit(c.Context(), request)
	if err != nil {
		return err
	}
	known := ""
	if job.Replayed {
		known = " (it was there already)"
	}
	screen.say("job %s%s", cell(job.ID), known)
	if s.wait {
		job, err = waitFor(c.Context(), server, screen, job, s.timeout)
	}
	return errors.Join(s.print(c.OutOrStdout(), job), err)
}

// waitFor waits until the job has ended, and shows how it goes. The job is as it
// was last seen, also with an error.
func waitFor(ctx context.Context, server *client.Client, screen *screen, job *client.Job, timeout time.Duration) (*client.Job, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	watching, stop := context.WithCancel(ctx)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		screen.follow(watching, server, job.ID)
	}()
	last, err := server.Wait(ctx, job.ID)
	stop()
	<-shown
	if last != nil {
		job = last
	}
	if err == nil {
		err = job.Err()
	}
	return job, err
}

func (s *submission) print(w io.Writer, job *client.Job) error {
	switch {
	case s.json:
		return writeJSON(w, job)
	case !s.wait:
		_, _ = fmt.Fprintln(w, cell(job.ID))
	case job.State == client.Succeeded:
		return writeJSON(w, job.Result)
	}
	return nil
}

// request is the intent; what is wrong with it is a mistake of the caller's.
func (s *submission) request(stdin io.Reader, args []string) (client.Request, error) {
	switch {
	case s.route == "":
		return client.Request{}, usageError{errors.New("--route is missing: which kind of work?")}
	case len(args) != 1:
		return client.Request{}, usageError{errors.New("want one FILE with the input as JSON, or - for standard input")}
	case s.timeout != 0 && !s.wait:
		return client.Request{}, usageError{errors.New("--timeout bounds --wait, which is not given")}
	}
	input, err := readJSON(stdin, args[0])
	if err != nil {
		return client.Request{}, err
	}
	r := client.Request{
		Route: s.route, Input: input, Key: s.key, Provider: s.provider, StartWithin: s.startWithin, WebhookURL: s.webhook,
	}
	if r.Key == "" {
		r.Key = client.NewKey()
	}
	if s.params != "" {
		members := map[string]json.RawMessage{} // numbers keep their digits
		if err := json.Unmarshal([]byte(s.params), &members); err != nil {
			return r, usageError{fmt.Errorf("--params: want a JSON object: %w", err)}
		}
		r.Params = map[string]any{}
		for name, value := range members {
			r.Params[name] = value
		}
	}
	r.Metadata, err = pairs(s.metadata)
	return r, err
}

func pairs(list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // none is no entries
	}
	out := map[string]string{}
	for _, pair := range list {
		name, value, ok := strings.Cut(pair, "=")
		if _, twice := out[name]; !ok || name == "" || twice {
			return nil, usageError{fmt.Errorf("--metadata %q: want name=value, each name once", pair)}
		}
		out[name] = value
	}
	return out, nil
}

// maxInput is more than a server takes, in bytes, so that the server judges.
const maxInput = 16 << 20

// readJSON reads one JSON value from a file or standard input.
func readJSON(stdin io.Reader, name string) (json.RawMessage, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the file the caller names
		if err != nil {
			return nil, usageError{fmt.Errorf("reading the JSON: %w", err)}
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, usageError{fmt.Errorf("%s is larger than %d MiB", name, maxInput>>20)}
	}
	var value json.RawMessage
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, usageError{fmt.Errorf("%s is not JSON: %w (a text has to be in double quotes)", name, err)}
	}
	return bytes.TrimSpace(data), nil
}
