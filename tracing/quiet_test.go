package tracing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// away is a collector that cannot be reached.
type away struct{ sdktrace.SpanExporter }

func (away) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("connection refused")
}

// TestQuiet: a collector that is away is complained of once a minute, with the number
// of spans it has cost, and to nobody but the log.
func TestQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		q := &quiet{SpanExporter: away{}, log: slog.New(slog.NewTextHandler(&log, nil))}
		for range 121 {
			require.NoError(t, q.ExportSpans(t.Context(), make([]sdktrace.ReadOnlySpan, 2)))
			<-time.After(time.Second)
		}
		require.Equal(t, 3, strings.Count(log.String(), "traces were not sent"))
		require.Contains(t, log.String(), "spans_lost=2\n")
		require.Equal(t, 2, strings.Count(log.String(), "spans_lost=120\n"))
	})
}
