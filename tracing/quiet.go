package tracing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// quietFor is the least time between two complaints about the collector.
const quietFor = time.Minute

// quiet keeps the errors of an exporter from the library's handler, which is one
// for the whole program, and logs them now and then.
type quiet struct {
	sdktrace.SpanExporter
	log *slog.Logger

	mu   sync.Mutex
	told time.Time
	lost int // spans since then
}

// ExportSpans never fails: spans that could not be sent are lost, which is logged.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost += len(spans)
	if now := time.Now(); now.Sub(q.told) >= quietFor {
		q.log.WarnContext(ctx, "traces were not sent; jobs are not touched by that", "error", err, "spans_lost", q.lost)
		q.told, q.lost = now, 0
	}
	return nil
}
