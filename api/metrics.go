package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what this package counts, and the page that shows the registry.
type metrics struct {
	page     http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registry *prometheus.Registry) *metrics {
	factory := promauto.With(registry)
	return &metrics{
		page: promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		requests: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_http_requests_total", Help: "Requests answered, by method, route and status.",
		}, []string{"method", "route", "status"}),
		seconds: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "onejob_http_request_seconds", Help: "Time to the end of the answer, waits included, by method and route.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"method", "route"}),
	}
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

func (m *metrics) serve(c echo.Context) error {
	m.page.ServeHTTP(c.Response(), c.Request())
	return nil
}
