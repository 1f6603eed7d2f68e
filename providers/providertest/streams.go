package providertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/providers"
)

const streamType = "Content-Type: text/event-stream"

// streams holds answers that come event by event. The end of a connection is not
// the end of an answer: only what the stream itself says is.
func (s Suite) streams(t *testing.T) {
	events := strings.SplitAfter(strings.TrimSpace(s.Stream)+"\n\n", "\n\n")
	events = events[:len(events)-1]
	for n := range len(events) + 1 {
		part := strings.Join(events[:n], "")
		wants := unknown(providers.ReasonAnswerTruncated)
		if n >= len(events)-s.StreamTail {
			wants = success()
		}
		t.Run(fmt.Sprintf("%d of %d events", n, len(events)), func(t *testing.T) {
			t.Parallel()
			s.check(t, fault{script: streamed(part), want: wants})
		})
	}
	// A connection that breaks is never an end, unless the stream came to its own.
	for n := range events {
		part := strings.Join(events[:n], "")
		t.Run(fmt.Sprintf("broken after %d of %d events", n, len(events)), func(t *testing.T) {
			t.Parallel()
			s.check(t, fault{script: func(x *Exchange) bool {
				x.Write("HTTP/1.1 200 OK\r\n" + streamType + "\r\nTransfer-Encoding: chunked\r\n\r\n")
				if part != "" {
					x.Write(fmt.Sprintf("%x\r\n%s\r\n", len(part), part))
				}
				return false
			}, want: unknown(providers.ReasonAnswerTruncated)})
		})
	}
	t.Run("whole, then left open", func(t *testing.T) {
		t.Parallel()
		s.check(t, fault{script: func(x *Exchange) bool {
			x.Write("HTTP/1.1 200 OK\r\n" + streamType + "\r\nConnection: close\r\n\r\n" + s.Stream)
			x.Gone()
			return false
		}, want: success()})
	})
	t.Run("an event that is no JSON", func(t *testing.T) {
		t.Parallel()
		s.check(t, fault{script: streamed(events[0] + "data: {oops\n\n"), want: unknown(providers.ReasonAnswerUnreadable)})
	})
	for _, at := range []int{0, 1, len(events) - 1 - s.StreamTail} {
		t.Run(fmt.Sprintf("an error after %d events", at), func(t *testing.T) {
			t.Parallel()
			server := NewServer(t, streamed(strings.Join(events[:at], "")+"event: error\ndata: "+s.Error+"\n\n"))
			outcome := s.call(t, server.URL, providers.NewWire(nil))
			require.Equal(t, providers.Failed, outcome.Kind, "the provider itself said that it failed: %s", outcome.Message)
			require.NotEqual(t, providers.EffectNone, outcome.Effect, "tokens may have been paid for")
			require.Equal(t, 1, server.Creates())
		})
	}
}

// streamed sends a stream that ends with its connection, cleanly.
func streamed(events string) Script {
	return func(x *Exchange) bool {
		x.Write("HTTP/1.1 200 OK\r\n" + streamType + "\r\nConnection: close\r\n\r\n" + events)
		return false
	}
}
