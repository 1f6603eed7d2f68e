package api

import (
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onejob/tracing"
)

// attrs are what every line about a request says of it, as far as it is known by now:
// names as everywhere in the log, and nothing that the caller sent but his request id
// and the numbers in the path.
func (known *call) attrs(c echo.Context) []slog.Attr {
	attrs := []slog.Attr{slog.String("request_id", known.requestID)}
	if known.owner != "" {
		attrs = append(attrs, slog.String("owner", known.owner))
	}
	if known.jobID != "" {
		attrs = append(attrs, slog.String("job", known.jobID))
	}
	if strings.Contains(c.Path(), "/attempts/:n") {
		if n, err := strconv.Atoi(c.Param("n")); err == nil {
			attrs = append(attrs, slog.Int("attempt", n))
		}
	}
	if id := tracing.ID(c.Request().Context()); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	return attrs
}

// logOf is the log for a line about a request that went wrong.
func (s *Server) logOf(c echo.Context) *slog.Logger {
	attrs := append(callOf(c).attrs(c), slog.String("route", c.Path()))
	return slog.New(s.config.Log.Handler().WithAttrs(attrs))
}

// panicKind is what may be logged of a panic's value. The runtime's own speak of code;
// any other may hold what the request was about. The stack shows no values.
func panicKind(value any) string {
	if fault, ok := value.(runtime.Error); ok {
		return fault.Error()
	}
	return fmt.Sprintf("a %T", value)
}
