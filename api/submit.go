package api

import (
	"context"

	"github.com/labstack/echo/v4"

	"onejob/auth"
	"onejob/jobs"
	"onejob/tracing"
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
	submitted, err := s.Submit(c.Request().Context(), Intent{Who: who, Key: key, Body: body})
	if err != nil {
		return err
	}
	return s.accepted(c, submitted)
}

// record writes the intent down; ctx is a decided one.
func (s *Server) record(ctx context.Context, i Intent, r *submitRequest) (jobs.Submitted, error) {
	known := callIn(ctx)
	submitted, err := s.store.Submit(ctx, jobs.Submission{
		Owner: i.Who.Owner, Actor: actor(i.Who), Key: i.Key, Fingerprint: r.Fingerprint,
		Route: r.Route, Provider: r.Provider, Input: r.Input, Params: r.Params, Metadata: r.Metadata,
		WebhookURL: r.WebhookURL, StartWithin: r.StartWithin, Trace: tracing.Traceparent(ctx),
	})
	if err == nil {
		known.jobID = submitted.Job.ID
		traceReplay(ctx, submitted)
	}
	return submitted, err
}

func (s *Server) accepted(c echo.Context, submitted jobs.Submitted) error {
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
func (s *Server) knownOr(ctx context.Context, i Intent, r *submitRequest, refusal *Problem) (jobs.Submitted, error) {
	ctx, cancel := decided(ctx)
	defer cancel()
	page, err := s.store.List(ctx, jobs.Query{Owner: i.Who.Owner, Key: i.Key, Limit: 1})
	if err != nil {
		return jobs.Submitted{}, err
	}
	if len(page.Jobs) == 0 {
		return jobs.Submitted{}, refusal
	}
	r.Provider = page.Jobs[0].Provider
	return s.record(ctx, i, r)
}
