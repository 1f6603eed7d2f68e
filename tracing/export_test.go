package tracing_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"onejob/logtest"
	"onejob/tracing"
)

// received is a request at a collector.
type received struct {
	path, authorization string
	spans               *spans.ResourceSpans
}

// collect is a collector that answers with status.
func collect(t *testing.T, status int) (string, <-chan received) {
	t.Helper()
	got := make(chan received, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		_ = proto.Unmarshal(body, &request)
		w.WriteHeader(status)
		got <- received{r.URL.Path, r.Header.Get("Authorization"), request.ResourceSpans[0]}
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func export(t *testing.T, s tracing.Settings) *tracing.Exporter {
	t.Helper()
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	exporter, err := tracing.Export(t.Context(), s)
	require.NoError(t, err)
	return exporter
}

func service(r *spans.ResourceSpans) string {
	for _, kv := range r.Resource.Attributes {
		if kv.Key == "service.name" {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

// TestExport: spans arrive at the root with /v1/traces added, at the latest when the
// process ends.
func TestExport(t *testing.T) {
	t.Parallel()
	for end, path := range map[string]string{
		"": "/v1/traces", "/": "/v1/traces", "/v1/traces": "/v1/traces", "/otlp": "/otlp/v1/traces", "/otlp/v1/traces/": "/otlp/v1/traces/",
	} {
		url, got := collect(t, http.StatusOK)
		exporter := export(t, tracing.Settings{Endpoint: url + end})
		_, span := exporter.Tracer().Start(t.Context(), "call")
		span.End()
		exporter.Close()
		require.Len(t, got, 1, end)
		arrived := <-got
		require.Equal(t, path, arrived.path, end)
		require.Equal(t, "onejob", service(arrived.spans))
		require.Equal(t, "call", arrived.spans.ScopeSpans[0].Spans[0].Name)
	}
}

// TestExport_Environment: what the file leaves open OpenTelemetry's own variables
// say; what it says they do not change.
func TestExport_Environment(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "from-env")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc")
	url, got := collect(t, http.StatusOK)
	one := func(s tracing.Settings) bool {
		s.Endpoint = url
		exporter := export(t, s)
		_, span := exporter.Tracer().Start(t.Context(), "call")
		span.End()
		exporter.Close()
		return len(got) == 1
	}
	all, none := 1.0, 0.0
	require.False(t, one(tracing.Settings{}), "the sampler of the environment")
	require.True(t, one(tracing.Settings{Sample: &all}), "the file's share goes before it")
	arrived := <-got
	require.Equal(t, "from-env", service(arrived.spans))
	require.Equal(t, "Basic abc", arrived.authorization)
	require.True(t, one(tracing.Settings{Sample: &all, ServiceName: "from-file"}))
	require.Equal(t, "from-file", service((<-got).spans))
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	require.False(t, one(tracing.Settings{Sample: &none}))
	require.True(t, one(tracing.Settings{}))
}

// TestClose_IsBounded: a collector that does not answer holds up the end of a process
// for 5 s at most, and is no error of it.
func TestClose_IsBounded(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}))
	t.Cleanup(func() { close(gone); server.Close() })
	var log logtest.Buffer
	exporter := export(t, tracing.Settings{Endpoint: server.URL, Log: slog.New(slog.NewTextHandler(&log, nil))})
	_, span := exporter.Tracer().Start(t.Context(), "call")
	span.End()
	began := time.Now()
	exporter.Close()
	require.Less(t, time.Since(began), 8*time.Second)
	require.Positive(t, log.Count("level=WARN"), "and is said")
}
