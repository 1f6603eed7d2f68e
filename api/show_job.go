package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"onejob/auth"
	"onejob/jobs"
)

// showJob is GET /v1/jobs/{id}.
func (s *Server) showJob(c echo.Context, who auth.Identity) error {
	job, err := s.jobOf(c, who)
	if err != nil {
		return err
	}
	if job, err = s.holdIfPreferred(c, job); err != nil {
		return err
	}
	if notModified(c.Request().Header, job) {
		c.Response().Header().Set("Etag", etag(job))
		return c.NoContent(http.StatusNotModified) //nolint:wrapcheck // the client is gone
	}
	return answerJob(c, http.StatusOK, job)
}

// jobOf reads the job in the path, if who may see it. Another owner's job is
// answered like one that is not there.
func (s *Server) jobOf(c echo.Context, who auth.Identity) (*jobs.Job, error) {
	ctx, cancel := reading(c.Request().Context())
	defer cancel()
	job, err := s.store.Get(ctx, c.Param("id"))
	if err != nil {
		return nil, err
	}
	if !who.MayRead(job.Owner) {
		return nil, noSuchJob()
	}
	callOf(c).jobID = job.ID
	return job, nil
}
