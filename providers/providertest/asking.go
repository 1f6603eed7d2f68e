package providertest

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
)

// ref names the attempt of the suite, with a handle that is no safe path.
var ref = providers.Ref{JobID: jobID, AttemptID: attemptID, Handle: "h/1?x"}

// lookups holds a type that can be asked to the rule that a look-up which went
// wrong teaches nothing, and that asking makes nothing.
func (s Suite) lookups(t *testing.T) {
	if _, can := s.New(t, "http://127.0.0.1:1", transport(t)).(providers.Lookuper); !can {
		t.Skip("it has no look-up")
	}
	nothing := map[string]Script{
		"closed":         raw(""),
		"reset":          func(x *Exchange) bool { x.Reset(); return false },
		"cut":            raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"),
		"HTML":           reply(200, "<html>It works!</html>"),
		"empty":          reply(200, ""),
		"no JSON object": reply(200, "7"),
		"strange JSON":   reply(200, `{"weather":"fine"}`),
		"204":            raw("HTTP/1.1 204 No Content\r\n\r\n"),
		"302":            redirect(302),
		"silence":        func(x *Exchange) bool { x.Gone(); return false },
	}
	for _, status := range []int{400, 401, 403, 404, 409, 410, 429, 500, 502, 503, 504, 529} {
		nothing[fmt.Sprint(status)] = reply(status, s.Error)
	}
	for name, script := range nothing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, server := s.ask(t, script, patienceFor(name))
			require.Equal(t, providers.Unknown, outcome.Kind, "%s: %s", outcome.Reason, outcome.Message)
			require.Contains(t, []string{providers.ReasonLookupAbsent, providers.ReasonLookupFailed}, outcome.Reason)
			require.Zero(t, server.Creates(), "asking makes nothing")
			require.Equal(t, 1, server.Requests(), "and is not repeated by itself")
		})
	}
	t.Run("says its secret aloud", func(t *testing.T) {
		t.Parallel()
		s.ask(t, func(x *Exchange) bool { // sound looks for it
			return x.Reply(500, fmt.Sprintf(`{"error":{"message":%q}}`, x.Request.Header), "X-Request-Id: "+s.Secret)
		}, patience)
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		outcome := s.lookup(t, "http://"+listener.Addr().String(), patience)
		require.Equal(t, providers.ReasonLookupFailed, outcome.Reason)
	})
	if s.Found == "" {
		return
	}
	t.Run("found", func(t *testing.T) {
		t.Parallel()
		outcome, server := s.ask(t, reply(200, s.Found), patience)
		success().check(t, outcome)
		require.Zero(t, server.Creates())
	})
}

// ask looks the attempt up at a server that plays script.
func (s Suite) ask(t *testing.T, script Script, within time.Duration) (providers.Outcome, *Server) {
	t.Helper()
	server := NewServer(t, script)
	return s.lookup(t, server.URL, within), server
}

// patienceFor bounds a request: one that meets silence ends with it.
func patienceFor(name string) time.Duration {
	if name == "silence" || name == "silent" {
		return 2 * time.Second
	}
	return patience
}

func (s Suite) lookup(t *testing.T, url string, within time.Duration) providers.Outcome {
	t.Helper()
	lookuper, can := s.New(t, url, transport(t)).(providers.Lookuper)
	require.True(t, can)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	outcome := lookuper.Lookup(ctx, ref)
	sound(t, outcome, s.Secret)
	return outcome
}

// cancels holds a type that can cancel to saying so when it could not ask, and to
// saying no more than that.
func (s Suite) cancels(t *testing.T) {
	if _, can := s.New(t, "http://127.0.0.1:1", transport(t)).(providers.Canceler); !can {
		t.Skip("it has no cancel")
	}
	for name, c := range map[string]struct {
		script Script
		asked  bool
	}{
		"taken":   {reply(200, s.Success), true},
		"500":     {reply(500, s.Error), false},
		"401":     {reply(401, s.Error), false},
		"302":     {redirect(302), false},
		"closed":  {raw(""), false},
		"silence": {func(x *Exchange) bool { x.Gone(); return false }, false},
		"says its secret aloud": {func(x *Exchange) bool {
			return x.Reply(503, fmt.Sprintf(`{"error":{"message":%q}}`, x.Request.Header), "X-Request-Id: "+s.Secret)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := NewServer(t, c.script)
			canceler, can := s.New(t, server.URL, transport(t)).(providers.Canceler)
			require.True(t, can)
			ctx, cancel := context.WithTimeout(t.Context(), patienceFor(name))
			defer cancel()
			err := canceler.Cancel(ctx, ref)
			require.Equal(t, c.asked, err == nil, "%v", err)
			require.Equal(t, 1, server.Requests(), "it is asked once")
			if err != nil {
				require.NotContains(t, err.Error(), s.Secret, "an error never shows the credential")
			}
		})
	}
}
