package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"onejob/jobs"
)

// metrics are what this package counts, and the page that shows the registry.
type metrics struct {
	page        http.Handler
	requests    *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	inFlight    prometheus.Gauge
	submissions *prometheus.CounterVec
}

func newMetrics(registry *prometheus.Registry) *metrics {
	factory := promauto.With(registry)
	return &metrics{
		page: promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		requests: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_http_requests_total", Help: "Are callers answered, and how? Requests by method, route and status.",
		}, []string{"method", "route", "status"}),
		seconds: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "onejob_http_request_seconds", Help: "How long do callers wait? Time to the end of the answer, waits they asked for included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"method", "route"}),
		inFlight: factory.NewGauge(prometheus.GaugeOpts{
			Name: "onejob_http_requests_in_flight", Help: "How many callers are being answered now? Waits and event streams included.",
		}),
		submissions: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_submissions_total", Help: "What becomes of submissions? Those that carried a key and a body, by what they made of it.",
		}, []string{"route", "outcome"}),
	}
}

// outcomes of a submission, by the name of the problem it was answered with; any
// other problem of status 5xx is failed, of 4xx refused.
var submissionOutcomes = map[string]string{
	problemKeyReused.Name:        "conflict",
	problemKeyExpired.Name:       "gone",
	problemRateLimited.Name:      "limited",
	problemStoreUnavailable.Name: "unavailable",
	problemRecordNewer.Name:      "unavailable",
}

// submitted counts one submission. A route that is not configured is counted as
// unmatched: callers must not be able to make series.
func (m *metrics) submitted(route string, known map[string]Route, submitted jobs.Submitted, err error) {
	if _, ok := known[route]; !ok {
		route = "unmatched"
	}
	m.submissions.WithLabelValues(route, submissionOutcome(submitted, err)).Inc()
}

func submissionOutcome(submitted jobs.Submitted, err error) string {
	switch {
	case err == nil && submitted.Created:
		return "created"
	case err == nil:
		return "replayed"
	}
	kind := problemOf(err).kind
	if outcome := submissionOutcomes[kind.Name]; outcome != "" {
		return outcome
	}
	if kind.Status >= http.StatusInternalServerError {
		return "failed"
	}
	return "refused"
}

// answered counts one request. Labels come from the table of routes, never from
// the request, so that their number is bounded.
func (m *metrics) answered(c echo.Context, took time.Duration) {
	method, route := c.Request().Method, c.Path()
	if route == "" || c.Response().Status == http.StatusMethodNotAllowed {
		method, route = "other", "unmatched"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(c.Response().Status)).Inc()
	m.seconds.WithLabelValues(method, route).Observe(took.Seconds())
}

// MetricsPage shows the metrics to whoever asks: serve it where only operators do.
func (s *Server) MetricsPage() http.Handler { return s.metrics.page }

func (m *metrics) serve(c echo.Context) error {
	m.page.ServeHTTP(c.Response(), c.Request())
	return nil
}
