package api

import (
	"github.com/labstack/echo/v4"

	"onejob/auth"
	"onejob/faults"
	"onejob/jobs"
)

// submit is POST /v1/jobs: one intent, one job.
func (s *Server) submit(c echo.Context, who auth.Identity) error {
	key, p := idempotencyKey(c.Request().Header)
	if p != nil {
		return p
	}
	body, p := readBody(c.Response(), c.Request())
	if p != nil {
		return p
	}
	request, p := parseSubmit(body)
	if p != nil {
		return p
	}
	if p := request.checkRoute(s.config.Routes); p != nil {
		return s.knownOr(c, who, key, request, p)
	}
	submitted, err := s.record(c, who, key, request)
	if err == nil {
		err = faults.Point(faults.Submitted)
	}
	if err != nil {
		return err
	}
	s.wake(c.Request().Context(), submitted.Wakes)
	return s.accepted(c, submitted)
}

// record writes the intent down. It does so also for a caller who has hung up:
// he sent it, and will ask for it again.
func (s *Server) record(c echo.Context, who auth.Identity, key string, r *submitRequest) (jobs.Submitted, error) {
	ctx, cancel := decided(c.Request().Context())
	defer cancel()
	return s.store.Submit(ctx, jobs.Submission{
		Owner: who.Owner, Actor: actor(who), Key: key, Fingerprint: r.Fingerprint,
		Route: r.Route, Provider: r.Provider, Input: r.Input, Params: r.Params, Metadata: r.Metadata,
		WebhookURL: r.WebhookURL, StartWithin: r.StartWithin,
	})
}

func (s *Server) accepted(c echo.Context, submitted jobs.Submitted) error {
	callOf(c).jobID = submitted.Job.ID
	if !submitted.Created {
		c.Response().Header().Set("Idempotent-Replayed", "true")
	}
	// The job is recorded: what goes wrong while waiting for it is no reason to
	// say less than that.
	job, _ := s.holdIfPreferred(c, submitted.Job)
	return answerAccepted(c, job)
}

// knownOr answers a request that the configuration of today refuses: with its
// job, or its conflict, if the key is known from when the route was still good;
// else with the refusal. The store compares the fingerprints, as always: a key
// that is held makes no new job, and it is held for longer than its record.
func (s *Server) knownOr(c echo.Context, who auth.Identity, key string, r *submitRequest, refusal *Problem) error {
	ctx, cancel := reading(c.Request().Context())
	defer cancel()
	page, err := s.store.List(ctx, jobs.Query{Owner: who.Owner, Key: key, Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Jobs) == 0 {
		return refusal
	}
	r.Provider = page.Jobs[0].Provider
	submitted, err := s.record(c, who, key, r)
	if err != nil {
		return err
	}
	return s.accepted(c, submitted)
}
