package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// problemPage documents one type of problem (RFC 9457 §3.1.1: dereferencing the
// type should give its documentation).
type problemPage struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Status      int    `json:"status"`
	Hint        string `json:"hint"`
	ShouldRetry bool   `json:"should_retry"` // false: SDKs are told not to send the same request again
}

// describeProblem is GET /problems/{name}.
func (s *Server) describeProblem(c echo.Context) error {
	kind := problemNamed(c.Param("name"))
	if kind == nil {
		return newProblem(&problemNotFound, "There is no problem of that name.").at("name", problemNames()...)
	}
	return answer(c, http.StatusOK, problemPage{
		Type: s.config.ProblemBase + "/problems/" + kind.Name, Name: kind.Name,
		Title: kind.Title, Status: kind.Status, Hint: kind.Hint, ShouldRetry: kind.retryable(),
	})
}

// retryable tells whether the same request may succeed later as it is.
func (t *problemType) retryable() bool {
	return t.Status == http.StatusTooManyRequests || t.Status >= http.StatusInternalServerError
}

func problemNames() []string {
	names := make([]string, len(problemTypes))
	for i, kind := range problemTypes {
		names[i] = kind.Name
	}
	return names
}
