package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey   = "sk-ant-test-0123456789abcdef"
	testInput = `{"messages":[{"role":"user","content":"Say hi."}]}`
	completed = `{"id":"msg_1","type":"message","role":"assistant","model":"m-1",` +
		`"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,` +
		`"usage":{"input_tokens":3,"output_tokens":1}}`
	refusal = `{"type":"error","error":{"type":"api_error","message":"no"},"request_id":"req_1"}`
)

// whole is a stream as the API sends it.
var whole = events(
	`message_start`, `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}`,
	`content_block_start`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	`ping`, `{"type": "ping"}`,
	`content_block_delta`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"He"}}`,
	`content_block_delta`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"llo <b>"}}`,
	`content_block_stop`, `{"type":"content_block_stop","index":0}`,
	`message_delta`, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}`,
	`message_stop`, `{"type":"message_stop"}`,
)

// events makes a stream of names and data.
func events(nameAndData ...string) string {
	var b strings.Builder
	for i := 0; i < len(nameAndData); i += 2 {
		b.WriteString("event: " + nameAndData[i] + "\ndata: " + nameAndData[i+1] + "\n\n")
	}
	return b.String()
}

func testConfig(url string, transport http.RoundTripper) providers.Config {
	return providers.Config{
		Name: "claude", Type: Type, BaseURL: url, APIKey: testKey, Model: "m-1", Transport: transport,
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(t testing.TB, url string, transport http.RoundTripper) providers.Provider {
			p, err := New(testConfig(url, transport))
			require.NoError(t, err)
			return p
		},
		Input:   json.RawMessage(testInput),
		Success: completed,
		Error:   refusal,
		Secret:  testKey,
		Stream:  whole,
	})
}

func transport(t testing.TB) *providers.Transport {
	tr := providers.NewTransport(5 * time.Second)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func newCall() *providers.Call {
	return &providers.Call{
		JobID: "job_1", AttemptID: "job_1-a2", Try: 1, Input: json.RawMessage(testInput),
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		NotAfter:    time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		Wire:        providers.NewWire(nil),
	}
}

// execute makes one attempt at a server that plays script.
func execute(t *testing.T, script providertest.Script) providers.Outcome {
	t.Helper()
	server := providertest.NewServer(t, script)
	p, err := New(testConfig(server.URL, transport(t)))
	require.NoError(t, err)
	o := p.Execute(t.Context(), newCall())
	require.Equal(t, 1, server.Requests())
	return o
}

func streamed(body string) providertest.Script {
	return func(x *providertest.Exchange) bool { return x.Reply(200, body, "Content-Type: text/event-stream") }
}

// Each fault of a provider, by the name of the model that has it.
func TestFake(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("streamed %t", stream), func(t *testing.T) {
			t.Parallel()
			providertest.RunFake(t, func(t testing.TB, url, model string, transport http.RoundTripper) providers.Provider {
				c := testConfig(url, transport)
				c.Model, c.Options = model, map[string]any{"stream": stream}
				p, err := New(c)
				require.NoError(t, err)
				return p
			})
		})
	}
}
