package tracing_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"onejob/tracing"
)

const (
	job   = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	cause = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
)

func recorder(t *testing.T) (tracing.Tracer, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	t.Cleanup(func() { _ = provider.Shutdown(context.WithoutCancel(t.Context())) })
	return tracing.New(provider), spans
}

// TestJoin: below what caused it, linked to its job's trace where that is another;
// below its job where nothing says what caused it.
func TestJoin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause, job, parent string
		linked             bool
	}{
		"both the same": {job, job, job, false},
		"two traces":    {cause, job, cause, true},
		"no cause":      {"", job, job, false},
		"no job":        {cause, "", cause, false},
		"neither":       {"", "", "", false},
		"malformed":     {"", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracer, spans := recorder(t)
			ctx, span := tracer.Join(tracing.WithTraceparent(t.Context(), c.cause), c.job, "attempt", trace.SpanKindConsumer)
			require.NotEmpty(t, tracing.ID(ctx))
			span.End()
			got := spans.GetSpans()
			require.Len(t, got, 1)
			require.Equal(t, c.parent, tracing.Traceparent(trace.ContextWithRemoteSpanContext(t.Context(), got[0].Parent)))
			require.Equal(t, c.linked, len(got[0].Links) == 1)
		})
	}
}

// TestZeroTracer makes nothing and passes on what the job came with.
func TestZeroTracer(t *testing.T) {
	t.Parallel()
	var off tracing.Tracer
	require.False(t, off.On())
	ctx, span := off.Start(tracing.WithTraceparent(t.Context(), cause), "call")
	require.False(t, span.IsRecording())
	require.Equal(t, cause, tracing.Traceparent(ctx))
	ctx, span = off.Join(ctx, job, "attempt", trace.SpanKindConsumer)
	require.Equal(t, job, tracing.Traceparent(ctx))
	require.Empty(t, tracing.ID(ctx))
	tracing.Link(ctx, cause)
	tracing.Note(ctx, tracing.Job("j"))
	tracing.Failed(ctx, "why")
	span.End()
	ctx, _ = off.Join(t.Context(), "", "attempt", trace.SpanKindConsumer)
	require.Empty(t, tracing.Traceparent(ctx))
	require.Nil(t, tracing.Headers(ctx))
}

// TestTraceparent: what is malformed is ignored, and what comes is given on as it was.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		job: job,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00":      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
		"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more": job, // of a later version: what we understand of it
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":      "",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01":      "",
		job + "-more": "", "00-1-2-01": "", "": "", job + "\r\nX-Evil: 1": "",
	} {
		require.Equal(t, want, tracing.Traceparent(tracing.WithTraceparent(t.Context(), given)), given)
	}
	headers := tracing.Headers(tracing.WithTraceparent(t.Context(), job))
	require.Equal(t, map[string]string{"traceparent": job}, headers)
	require.Equal(t, job, tracing.Traceparent(tracing.FromHeaders(t.Context(), headers)))
	require.Empty(t, tracing.Traceparent(tracing.FromHeaders(t.Context(), nil)))
}
