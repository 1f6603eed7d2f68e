package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"onejob/auth"
)

// endpoint is one call of the API.
type endpoint struct {
	method, path string
	handle       echo.HandlerFunc
}

func (s *Server) register(endpoints ...endpoint) {
	for _, e := range endpoints {
		s.echo.Add(e.method, e.path, e.handle)
	}
}

// probes are for whoever runs the process. They say nothing about single jobs, and
// need no credentials but for the metrics where others could read them.
func (s *Server) probes() []endpoint {
	metrics := s.metrics.serve
	if !s.config.OpenMetrics {
		metrics = s.as(watchers, func(c echo.Context, _ auth.Identity) error { return s.metrics.serve(c) })
	}
	return []endpoint{
		{http.MethodGet, "/healthz", s.healthz},
		{http.MethodGet, "/readyz", s.readyz},
		{http.MethodGet, "/metrics", metrics},
	}
}

// documents describe the API itself.
func (s *Server) documents() []endpoint {
	return []endpoint{
		{http.MethodGet, "/openapi.yaml", serveDescription},
		{http.MethodGet, "/problems/:name", s.describeProblem},
	}
}

// jobRoutes are the calls of design §7.
func (s *Server) jobRoutes() []endpoint {
	return []endpoint{
		{http.MethodPost, "/v1/jobs", s.as(writers, s.submit)},
		{http.MethodGet, "/v1/jobs", s.as(readers, s.listJobs)},
		{http.MethodGet, "/v1/jobs/:id", s.as(readers, s.showJob)},
		{http.MethodGet, "/v1/jobs/:id/events", s.as(readers, s.showEvents)},
		{http.MethodPost, "/v1/jobs/:id/cancel", s.as(writers, s.cancelJob)},
		{http.MethodPost, "/v1/jobs/:id/attempts", s.as(writers, s.openAttempt)},
		{http.MethodPost, "/v1/jobs/:id/attempts/:n/cancel", s.as(writers, s.cancelAttempt)},
		{http.MethodPost, "/v1/jobs/:id/attempts/:n/resolve", s.as(operators, s.resolveAttempt)},
		{http.MethodPost, "/v1/jobs/:id/webhooks/:n/redeliver", s.as(writers, s.redeliverWebhook)},
	}
}
