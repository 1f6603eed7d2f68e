package providertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/providers"
)

// most is how much of an endless answer may be taken off the server, in bytes:
// the largest result and what the sockets of both sides hold.
const most = providers.MaxResult + 24<<20

// sizes holds answers that do not fit.
func (s Suite) sizes(t *testing.T) {
	const gigabyte = 1 << 30
	tooLarge := want{kind: providers.Failed, reason: providers.ReasonResultTooLarge, effect: providers.EffectDone}
	for _, c := range []struct {
		name, head string
		want       want
	}{
		{"a gigabyte", fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n", jsonType, gigabyte), tooLarge},
		{"without an end", fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nConnection: close\r\n\r\n", jsonType), tooLarge},
		{"a gigabyte of refusal", fmt.Sprintf("HTTP/1.1 400 No\r\n%s\r\nContent-Length: %d\r\n\r\n", jsonType, gigabyte), no(providers.ReasonRejected)},
		{"a gigabyte of error", fmt.Sprintf("HTTP/1.1 500 No\r\n%s\r\nContent-Length: %d\r\n\r\n", jsonType, gigabyte), unknown(providers.ReasonGatewayAnswer)},
		{"a head without an end", "HTTP/1.1 200 OK\r\nX-Long: ", unknown(providers.ReasonAnswerUnreadable)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			server := NewServer(t, func(x *Exchange) bool {
				block := strings.Repeat("x", 64<<10)
				// Who takes twice as much as anybody may takes all there is.
				for ok := x.Write(c.head); ok && sent.Load() < 2*most; sent.Add(int64(len(block))) {
					ok = x.Write(block)
				}
				return false
			})
			c.want.check(t, s.call(t, server.URL, providers.NewWire(nil)))
			require.Equal(t, 1, server.Creates())
			require.Less(t, sent.Load(), int64(most), "an answer is not read beyond what can be used")
		})
	}
}

// secrets holds servers that say aloud what they were told.
func (s Suite) secrets(t *testing.T) {
	for _, status := range []int{400, 401, 403, 429, 500, 503, 502, 200, 302} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			heard := make(chan bool, 1)
			server := NewServer(t, func(x *Exchange) bool {
				var all strings.Builder
				for _, values := range x.Request.Header {
					all.WriteString(strings.Join(values, " ") + " ")
				}
				heard <- strings.Contains(all.String(), s.Secret)
				message, err := json.Marshal(all.String())
				if err != nil {
					return false
				}
				body := fmt.Sprintf(`{"error":{"message":%s,"code":%s}}`, message, message)
				if status == 200 {
					body = s.Success
				}
				return x.Reply(status, body, jsonType, "X-Request-Id: req-"+s.Secret, "Location: /?key="+s.Secret)
			})
			s.call(t, server.URL, providers.NewWire(nil)) // execute checks the outcome
			require.True(t, <-heard, "the provider did not send Suite.Secret, so nothing is shown")
		})
	}
}
