package replicate

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey   = "r8_test0123456789abcdef"
	succeeded = `{"id":"p1","model":"acme/draw","version":"v1","input":{"text":"hi"},"output":["He","llo"],` +
		`"error":null,"logs":"","status":"succeeded","data_removed":false,"metrics":{"predict_time":0.4},` +
		`"urls":{"get":"https://api.replicate.com/v1/predictions/p1"}}`
	refusal = `{"title":"Sorry","detail":"the model is not well","status":500}`
)

func testConfig(url string, transport http.RoundTripper) providers.Config {
	return providers.Config{
		Name: "rep", Type: Type, BaseURL: url + "/v1", APIKey: testKey, Model: "acme/draw", Transport: transport,
	}
}

func cogConfig(url string, transport http.RoundTripper) providers.Config {
	c := testConfig(url, transport)
	c.API, c.Model, c.BaseURL = apiCog, "", url
	return c
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(string, http.RoundTripper) providers.Config{
		"replicate": testConfig, "cog": cogConfig,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.Run(t, providertest.Suite{
				New: func(t testing.TB, url string, transport http.RoundTripper) providers.Provider {
					p, err := New(config(url, transport))
					require.NoError(t, err)
					return p
				},
				Input:   json.RawMessage(`{"text":"hi"}`),
				Success: succeeded,
				Error:   refusal,
				Secret:  testKey,
				Found:   succeeded,
			})
		})
	}
}

func transport(t testing.TB) *providers.Transport {
	tr := providers.NewTransport(5 * time.Second)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func newCall() *providers.Call {
	return &providers.Call{
		JobID: "job_1", AttemptID: "job_1-a2", Try: 1, Input: json.RawMessage(`{"text":"hi","seed":9007199254740993}`),
		NotAfter: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		Wire:     providers.NewWire(nil),
	}
}

// Each fault of a provider, by the name of the model that has it.
func TestFake(t *testing.T) {
	t.Parallel()
	providertest.RunFake(t, func(t testing.TB, url, model string, transport http.RoundTripper) providers.Provider {
		c := testConfig(url, transport)
		c.Model = "acme/" + model
		p, err := New(c)
		require.NoError(t, err)
		return p
	})
}
