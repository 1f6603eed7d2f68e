package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"onejob/jobs"
)

// maxReport is the largest callback: a result of 8 MiB and what goes around it.
const maxReport = 9 << 20

// Reporter takes what a provider reports at a callback URL. It answers with
// ErrNoCallback for a token it does not know, and with ErrBadReport for a body it
// cannot understand.
type Reporter interface {
	Report(ctx context.Context, token string, body []byte) (jobs.Reported, error)
}

// What a Reporter answers.
var (
	ErrNoCallback = errors.New("no such callback")
	ErrBadReport  = errors.New("not a report")
)

// takeReport is POST /v1/callbacks/{token}. The token is the credential; it is
// good for the end of one attempt. A report that comes too late is recorded and
// not applied, and the provider is told so with 200: sending it again is of no use.
func (s *Server) takeReport(c echo.Context) error {
	if p := checkMediaType(c.Request().Header); p != nil {
		return p
	}
	body, p := readAll(c.Response(), c.Request(), maxReport)
	if p != nil {
		return p
	}
	ctx, cancel := decided(c.Request().Context())
	defer cancel()
	reported, err := s.config.Reporter.Report(ctx, c.Param("token"), body)
	switch {
	case errors.Is(err, ErrNoCallback):
		return newProblem(&problemNotFound, "There is no callback with this token.")
	case errors.Is(err, ErrBadReport):
		return newProblem(&problemRequestInvalid, "%s", err).
			hint(`Send {"status": "running" | "succeeded" | "failed", "result": …, "error": …}.`)
	case err != nil:
		return err
	}
	return answer(c, http.StatusOK, map[string]any{"state": reported.State, "late": reported.Late})
}
