package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Settings say where spans go. What they leave open is read from OpenTelemetry's
// own variables: OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _COMPRESSION and
// _CERTIFICATE, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_*, and those named below.
type Settings struct {
	// Endpoint is the root of a collector that takes OTLP over HTTP; /v1/traces is
	// added unless its path ends so.
	Endpoint string
	// Sample is the share of the traces begun here that are kept, 0 to 1. A
	// caller's own decision is followed. Defaults to OTEL_TRACES_SAMPLER, and all
	// without that.
	Sample *float64
	// ServiceName defaults to OTEL_SERVICE_NAME, and onejob without that.
	ServiceName string
	// Log is told what goes wrong, at most once a minute. Required.
	Log *slog.Logger
}

// flushTime bounds the flush at the end of a process.
const flushTime = 5 * time.Second

// tracesPath is where OTLP over HTTP takes spans (OTLP 1.x).
const tracesPath = "/v1/traces"

// Exporter sends spans to a collector until Close.
type Exporter struct {
	provider *sdktrace.TracerProvider
	log      *slog.Logger
}

// Export begins to send spans. That the collector answers is not looked at.
func Export(ctx context.Context, s Settings) (*Exporter, error) {
	endpoint, err := url.Parse(s.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the collector: %w", err)
	}
	if path := strings.TrimSuffix(endpoint.Path, "/"); !strings.HasSuffix(path, tracesPath) {
		endpoint.Path = path + tracesPath
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint.String()))
	if err != nil {
		return nil, fmt.Errorf("making the exporter of traces: %w", err)
	}
	described, err := describe(ctx, s.ServiceName)
	if err != nil {
		return nil, err
	}
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithBatcher(&quiet{SpanExporter: exporter, log: s.Log}), sdktrace.WithResource(described),
	}
	if s.Sample != nil {
		options = append(options, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(*s.Sample))))
	}
	return &Exporter{provider: sdktrace.NewTracerProvider(options...), log: s.Log}, nil
}

// Tracer makes the spans that are sent.
func (e *Exporter) Tracer() Tracer { return New(e.provider) }

// Close sends what is left, for 5 s at most, and ends. A collector that does not
// take it is logged; the process's end does not fail for it.
func (e *Exporter) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil {
		e.log.WarnContext(ctx, "the last traces were not sent", "error", err)
	}
}

// describe says who makes the spans. What comes later in the list wins.
func describe(ctx context.Context, service string) (*resource.Resource, error) {
	host, _ := os.Hostname()
	detectors := []resource.Option{
		resource.WithAttributes(
			attribute.String("service.name", "onejob"),
			attribute.String("service.instance.id", fmt.Sprintf("%s:%d", host, os.Getpid())),
		),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	}
	if service != "" {
		detectors = append(detectors, resource.WithAttributes(attribute.String("service.name", service)))
	}
	described, err := resource.New(ctx, detectors...)
	if err != nil {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return described, nil
}
