package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTracing: off when absent; what is written without an endpoint, or does not
// make sense, is refused and says what to do.
func TestTracing(t *testing.T) {
	t.Parallel()
	const rest = "\nproviders: {inkjet: {type: simulated}}\nroutes: {print: {providers: [inkjet]}}\n"
	share := func(f float64) *float64 { return &f }
	for text, c := range map[string]struct {
		want    Tracing
		problem string // contained
	}{
		"": {},
		`tracing: {endpoint: "http://127.0.0.1:4318"}`:                    {want: Tracing{Endpoint: "http://127.0.0.1:4318"}},
		`tracing: {endpoint: "https://c/otlp", sample: 0}`:                {want: Tracing{Endpoint: "https://c/otlp", Sample: share(0)}},
		`tracing: {endpoint: "https://c", sample: 1, service_name: shop}`: {want: Tracing{Endpoint: "https://c", Sample: share(1), ServiceName: "shop"}},
		`tracing: {endpoint: "http://c", sample: "${HALF}"}`:              {want: Tracing{Endpoint: "http://c", Sample: share(0.5)}},
		`tracing: {}`:                                        {problem: "tracing.endpoint: missing; tracing is on when it is given"},
		`tracing: {sample: 1}`:                               {problem: "tracing.endpoint: missing"},
		`tracing: {endpoint: "c:4318"}`:                      {problem: "tracing.endpoint: is not an absolute http or https URL"},
		`tracing: {endpoint: "http://u:secret@c"}`:           {problem: "tracing.endpoint: carries credentials or a query, which are not sent; put them into OTEL_EXPORTER_OTLP_HEADERS"},
		`tracing: {endpoint: "http://c?token=secret"}`:       {problem: "OTEL_EXPORTER_OTLP_HEADERS"},
		`tracing: {endpoint: "http://c", sample: 1.5}`:       {problem: "tracing.sample: 1.5 is out of range; want a number from 0 to 1"},
		`tracing: {endpoint: "http://c", sample: -1}`:        {problem: "tracing.sample: -1 is out of range"},
		`tracing: {endpoint: "http://c", sample: NaN}`:       {problem: "tracing.sample: NaN is out of range"},
		`tracing: {endpoint: "http://c", sample: half}`:      {problem: `tracing.sample: "half" is not a number`},
		`tracing: {endpoint: "http://c", servicename: shop}`: {problem: "did you mean service_name?"},
		`tracing: {endpoint: "http://c", insecure: true}`:    {problem: "tracing.insecure: unknown key"},
	} {
		got, err := Parse("f.yaml", []byte(text+rest), environment(map[string]string{"HALF": "0.5"}))
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, text)
			require.NotContains(t, err.Error(), "secret", text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, c.want, got.Tracing, text)
	}
	c := Default()
	c.Tracing.ServiceName = "shop"
	require.ErrorContains(t, c.Validate(), "tracing.endpoint: missing", "also from code")
}
