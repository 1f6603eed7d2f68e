package providertest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
)

// beforeTheWire holds calls that never leave: failures for certain.
func (s Suite) beforeTheWire(t *testing.T) {
	notSent := later(providers.ReasonNotSent, providers.EffectNone)
	addresses := map[string]func(t *testing.T) string{
		"refused connection": func(t *testing.T) string {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			require.NoError(t, listener.Close())
			return "http://" + listener.Addr().String()
		},
		// A name with an empty label is refused by the resolver itself.
		"unknown host": func(*testing.T) string { return "http://no..such.host" },
		"server without TLS": func(t *testing.T) string {
			server := NewServer(t, raw("not TLS"))
			t.Cleanup(func() { require.Zero(t, server.Creates()) })
			return strings.Replace(server.URL, "http:", "https:", 1)
		},
	}
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			notSent.check(t, s.call(t, address(t), providers.NewWire(nil)))
		})
	}
	t.Run("lease over", func(t *testing.T) {
		t.Parallel()
		server := NewServer(t, reply(200, s.Success))
		outcome := s.call(t, server.URL, providers.NewWire(func() error { return errLeaseOver }))
		notSent.check(t, outcome)
		require.Zero(t, server.Received(), "not a byte may leave")
	})
	t.Run("context over", func(t *testing.T) {
		t.Parallel()
		server := NewServer(t, reply(200, s.Success))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		notSent.check(t, s.execute(ctx, t, s.New(t, server.URL, transport(t)), providers.NewWire(nil)))
		require.Zero(t, server.Received())
	})
}

// clocks holds calls whose answer takes its time.
func (s Suite) clocks(t *testing.T) {
	silent := func(x *Exchange) bool { x.Gone(); return false }
	t.Run("silent until the deadline", func(t *testing.T) {
		t.Parallel()
		server := NewServer(t, silent)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		outcome := s.execute(ctx, t, s.New(t, server.URL, transport(t)), providers.NewWire(nil))
		unknown(providers.ReasonDeadline).check(t, outcome)
		require.Equal(t, 1, server.Creates())
	})
	t.Run("called off", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		server := NewServer(t, func(x *Exchange) bool { cancel(); return silent(x) })
		outcome := s.execute(ctx, t, s.New(t, server.URL, transport(t)), providers.NewWire(nil))
		unknown(providers.ReasonStopped).check(t, outcome)
		require.Equal(t, 1, server.Creates())
	})
	t.Run("half an answer, then silence", func(t *testing.T) {
		t.Parallel()
		server := NewServer(t, func(x *Exchange) bool {
			x.Write("HTTP/1.1 200 OK\r\n" + jsonType + "\r\nContent-Length: 1000\r\n\r\n{")
			return silent(x)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		outcome := s.execute(ctx, t, s.New(t, server.URL, transport(t)), providers.NewWire(nil))
		unknown(providers.ReasonDeadline).check(t, outcome)
		require.Equal(t, 200, outcome.Evidence.Status)
		require.False(t, outcome.Evidence.Complete)
	})
	t.Run("drop by drop", func(t *testing.T) {
		t.Parallel()
		server := NewServer(t, s.dripping)
		outcome := s.call(t, server.URL, providers.NewWire(nil))
		success().check(t, outcome)
		require.Equal(t, 1, server.Creates())
		require.True(t, outcome.Evidence.Complete)
		require.True(t, outcome.Evidence.LastByteAt.After(outcome.Evidence.FirstByteAt))
	})
}

// dripping sends an answer in 32 pieces.
func (s Suite) dripping(x *Exchange) bool {
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n%s", jsonType, len(s.Success), s.Success)
	size := len(answer)/32 + 1
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(answer) > 0 {
		select {
		case <-tick.C:
		case <-x.Done:
			return false
		}
		n := min(size, len(answer))
		if !x.Write(answer[:n]) {
			return false
		}
		answer = answer[n:]
	}
	return true
}

// connections holds what keeping connections alive must not lead to.
func (s Suite) connections(t *testing.T) {
	// net/http sends such a request again by itself if it can: two effects, one
	// answer. The rule that prevents it is GetBody = nil in providers.Transport.
	for name, end := range map[string]func(*Exchange){
		"reused, closed after the effect": func(*Exchange) {},
		"reused, reset after the effect":  func(x *Exchange) { x.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reused atomic.Bool
			server := NewServer(t, func(x *Exchange) bool {
				if x.Create == 2 {
					reused.Store(x.Nth == 2)
					end(x)
					return false
				}
				return x.Reply(200, s.Success, jsonType)
			})
			p := s.New(t, server.URL, transport(t))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			success().check(t, s.execute(ctx, t, p, providers.NewWire(nil)))
			outcome := s.execute(ctx, t, p, providers.NewWire(nil))
			unknown(providers.ReasonConnectionLost).check(t, outcome)
			require.True(t, reused.Load(), "the second call went over the first one's connection")
			require.Equal(t, 2, server.Creates(), "two calls, two creates")
		})
	}
	t.Run("many at once", func(t *testing.T) {
		t.Parallel()
		server := NewServer(t, reply(200, s.Success))
		p := s.New(t, server.URL, transport(t))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		const calls = 50
		outcomes := make(chan providers.Outcome, calls)
		for range calls {
			go func() { outcomes <- p.Execute(ctx, s.newCall(providers.NewWire(nil))) }()
		}
		for range calls {
			success().check(t, <-outcomes)
		}
		require.Equal(t, calls, server.Creates())
	})
	t.Run("names the attempt", func(t *testing.T) {
		t.Parallel()
		names := make(chan string, 1)
		server := NewServer(t, func(x *Exchange) bool {
			names <- x.Request.Header.Get("X-Onejob-Attempt")
			return x.Reply(200, s.Success, jsonType)
		})
		s.call(t, server.URL, providers.NewWire(nil))
		require.Equal(t, attemptID, <-names)
	})
}
