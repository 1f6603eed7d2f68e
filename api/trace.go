package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"onejob/jobs"
	"onejob/tracing"
)

// trace continues the caller's trace, in a span of its own where it is a call about
// jobs; probes and pages have none. The caller's trace context is kept with a job
// also when no spans are made.
func (s *Server) trace(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		ctx := tracing.FromCarrier(r.Context(), propagation.HeaderCarrier(r.Header))
		if !s.config.Tracer.On() || !isTraced(c.Path()) {
			if trace.SpanContextFromContext(ctx).IsValid() {
				c.SetRequest(r.WithContext(ctx))
			}
			return next(c)
		}
		ctx, span := s.config.Tracer.Start(ctx, r.Method+" "+c.Path(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
			attribute.String("http.request.method", r.Method),
			attribute.String("http.route", c.Path()), // never the path itself: it may hold anything
		))
		defer span.End()
		c.SetRequest(r.WithContext(ctx))
		err := next(c)
		traceAnswer(c)
		return err
	}
}

func isTraced(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/openai/")
}

func traceAnswer(c echo.Context) {
	ctx, known, status := c.Request().Context(), callOf(c), c.Response().Status
	tracing.Note(ctx, attribute.Int("http.response.status_code", status), tracing.RequestID(known.requestID))
	if known.jobID != "" {
		tracing.Note(ctx, tracing.Job(known.jobID))
	}
	if status >= http.StatusInternalServerError {
		tracing.Failed(ctx, http.StatusText(status))
	}
}

// traceReplay says of a submit that its key was known, and ties it to the trace of
// the one that made the job.
func traceReplay(ctx context.Context, submitted jobs.Submitted) {
	if submitted.Created {
		return
	}
	tracing.Note(ctx, tracing.Replayed())
	tracing.Link(ctx, submitted.Job.Trace)
}
