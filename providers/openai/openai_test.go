package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey   = "sk-test-0123456789abcdef"
	testInput = `{"messages":[{"role":"user","content":"Say hi."}]}`
	completed = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m-1",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`
	refusal = `{"error":{"message":"no","type":"server_error","param":null,"code":null}}`
)

func testConfig(url string, transport http.RoundTripper) providers.Config {
	return providers.Config{
		Name: "gpt", Type: Type, BaseURL: url + "/v1", APIKey: testKey, Model: "m-1", Transport: transport,
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
		Stream: events(delta(`{"role":"assistant","content":""}`, "null"), delta(`{"content":"hi"}`, "null"),
			delta(`{}`, `"stop"`), usage, "[DONE]"),
		StreamTail: 2,
	})
}

func TestConformance_Stored(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(t testing.TB, url string, transport http.RoundTripper) providers.Provider {
			c := testConfig(url, transport)
			c.Options = map[string]any{"store": true}
			p, err := New(c)
			require.NoError(t, err)
			return p
		},
		Input:   json.RawMessage(testInput),
		Success: completed,
		Error:   refusal,
		Secret:  testKey,
	})
}

func TestConformance_Responses(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(t testing.TB, url string, transport http.RoundTripper) providers.Provider {
			return newBackground(t, testConfig(url, transport))
		},
		Input:   json.RawMessage(testInput),
		Success: response("completed", ""),
		Error:   refusal,
		Secret:  testKey,
		Found:   response("completed", ""),
	})
}

// Each fault of a provider, by the name of the model that has it.
func TestFake(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"chat", "responses"} {
		for _, stream := range []bool{true, false} {
			if api == "responses" && stream {
				continue // background responses are not streamed
			}
			t.Run(fmt.Sprintf("%s streamed %t", api, stream), func(t *testing.T) {
				t.Parallel()
				providertest.RunFake(t, func(t testing.TB, url, model string, transport http.RoundTripper) providers.Provider {
					c := testConfig(url, transport)
					c.API, c.Model, c.Options = api, model, map[string]any{"stream": stream}
					p, err := New(c)
					require.NoError(t, err)
					return p
				})
			})
		}
	}
}
