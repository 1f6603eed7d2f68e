package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/oklog/ulid/v2"
)

// headerRequestID carries the id a request has in the log.
const headerRequestID = "X-Request-Id"

// call is what the log tells of one request, gathered while it is answered.
type call struct {
	requestID string
	owner     string
	jobID     string
}

type callKey struct{}

func callOf(c echo.Context) *call { return callIn(c.Request().Context()) }

func callIn(ctx context.Context) *call {
	if known, ok := ctx.Value(callKey{}).(*call); ok {
		return known
	}
	return &call{}
}

// observe gives the request its id, and counts and logs it when it is answered.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		known := &call{requestID: requestID(c.Request().Header)}
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), callKey{}, known)))
		c.Response().Header().Set(headerRequestID, known.requestID)
		if err := next(c); err != nil {
			c.Error(err) // now, so that the status below is what the client saw
		}
		ended := time.Now()
		s.metrics.answered(c, ended.Sub(began))
		s.logAnswer(c, known, ended, ended.Sub(began))
		return nil
	}
}

func (s *Server) logAnswer(c echo.Context, known *call, at time.Time, took time.Duration) {
	level := slog.LevelInfo
	if !strings.HasPrefix(c.Path(), "/v1/") && c.Request().Method == http.MethodGet {
		level = slog.LevelDebug // probes and pages come all the time
	}
	ctx, handler := c.Request().Context(), s.config.Log.Handler()
	if !handler.Enabled(ctx, level) {
		return
	}
	line := slog.NewRecord(at, level, "request answered", 0) // which line of code logs it is no news
	line.AddAttrs(
		slog.String("method", c.Request().Method),
		slog.String("route", c.Path()), // never the path itself: it may hold anything
		slog.Int("status", c.Response().Status),
		slog.Duration("took", took),
	)
	line.AddAttrs(known.attrs(c)...)
	_ = handler.Handle(ctx, line) // as slog.Logger has it
}

// requestID passes on the caller's id if it is fit for a log, else makes one.
func requestID(h http.Header) string {
	const most = 128
	id := h.Get(headerRequestID)
	if id == "" || len(id) > most {
		return "req_" + ulid.Make().String()
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return "req_" + ulid.Make().String()
		}
	}
	return id
}

// recoverPanics turns a panic into a 500 that shows nothing of it; the stack
// goes to the log. An answer that has begun is cut off instead.
func (s *Server) recoverPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if abort, ok := cause.(error); ok && errors.Is(abort, http.ErrAbortHandler) {
				panic(cause)
			}
			s.logOf(c).Error("panic while answering a request", "panic", panicKind(cause), "stack", string(debug.Stack()))
			if c.Response().Committed {
				panic(http.ErrAbortHandler)
			}
			err = newProblem(&problemInternal, "The request could not be answered.")
		}()
		return next(c)
	}
}

// Values of headers that most answers have. Whoever sets another puts it in the place of
// these; they are never appended to: their capacity is their length.
var (
	noSniff    = []string{"nosniff"}
	noContent  = []string{"default-src 'none'; frame-ancestors 'none'"}
	noReferrer = []string{"no-referrer"}
	noStore    = []string{"no-store"}
	isJSON     = []string{"application/json"}
)

// secure sets the headers that keep a browser from making more of an answer than
// it is. A mounted handler may set its own.
func secure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h["X-Content-Type-Options"] = noSniff
		h["Content-Security-Policy"] = noContent
		if strings.HasPrefix(c.Path(), "/v1/") {
			h["Cache-Control"] = noStore // jobs are their owner's
		} else {
			h["Referrer-Policy"] = noReferrer // pages may have links; what is under /v1 is data alone
		}
		return next(c)
	}
}
