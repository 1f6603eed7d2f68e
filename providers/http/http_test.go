package httpprovider

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testToken = "tok-0123456789abcdef"

func testConfig(url string, transport http.RoundTripper) providers.Config {
	return providers.Config{
		Name: "laser", Type: Type, URL: url + "/print", Transport: transport,
		Headers: map[string]string{"Authorization": "Bearer " + testToken},
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
		Input:   json.RawMessage(`{"page":1}`),
		Success: `{"printed":1,"by":"laser"}`,
		Error:   `{"error":{"message":"no paper","code":"paper"}}`,
		Secret:  testToken,
	})
}

// With everything that can be configured.
func TestConformance_Shaped(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(t testing.TB, url string, transport http.RoundTripper) providers.Provider {
			c := testConfig(url, transport)
			c.Body = map[string]any{"prompt": "Page {{input.page}}", "all": "{{input}}"}
			c.ResultPath, c.ErrorPath = "data.0", "fault.text"
			c.LookupURL, c.CancelURL = url+"/jobs/{attempt}", url+"/jobs/{attempt}/cancel"
			p, err := New(c)
			require.NoError(t, err)
			return p
		},
		Input:   json.RawMessage(`{"page":1}`),
		Success: `{"data":[{"printed":1}]}`,
		Error:   `{"fault":{"text":"no paper"}}`,
		Secret:  testToken,
		Found:   `{"status":"succeeded","result":{"printed":1}}`,
	})
}
