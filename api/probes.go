package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// Readiness says whether a process can do its work, and what an operator should
// know even if it can.
type Readiness struct {
	// Ready is false while the process cannot do its work.
	Ready bool `json:"ready"`
	// Durability is the class of the store: fsync, everysec or memory (design §3).
	Durability string `json:"durability,omitempty"`
	// Reasons say why it is not ready.
	Reasons []string `json:"reasons,omitempty"`
	// Notes are what is out of the ordinary, such as a partition that went back
	// in time.
	Notes []string `json:"notes,omitempty"`
}

// healthz says that the process runs; it looks at nothing else, so that an
// outage of the store does not get it restarted.
func (s *Server) healthz(c echo.Context) error {
	return answer(c, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *Server) readyz(c echo.Context) error {
	// Whether the asker is still there says nothing of the store: some probes close
	// their side once they have asked.
	ctx, cancel := decided(c.Request().Context())
	defer cancel()
	readiness := s.config.Ready(ctx)
	status := http.StatusOK
	if !readiness.Ready {
		status = http.StatusServiceUnavailable
	}
	return answer(c, status, readiness)
}
