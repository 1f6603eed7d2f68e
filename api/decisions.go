package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"onejob/auth"
	"onejob/jobs"
	"onejob/tracing"
)

// maxReason is the longest reason a person may give, in characters.
const maxReason = 500

// decision is what every call that changes a job has in common: the job as it
// was when the caller was let at it, what he wrote, and whom to put it down to.
type decision struct {
	jobs.Decision
	job  *jobs.Job
	body fields
}

// decide reads the caller's job, his body and the version he expects. Nothing is
// decided here: the store is given the whole of it.
func (s *Server) decide(c echo.Context, who auth.Identity, allowed ...string) (*decision, error) {
	job, err := s.jobOf(c, who)
	if err != nil {
		return nil, err
	}
	tracing.Link(c.Request().Context(), job.Trace)
	version, p := expectedVersion(c.Request().Header)
	if p != nil {
		return nil, p
	}
	raw, p := readOptionalBody(c.Response(), c.Request())
	if p != nil {
		return nil, p
	}
	body, _, p := readFields(raw, allowed...)
	if p != nil {
		return nil, p
	}
	d := &decision{job: job, body: body, Decision: jobs.Decision{JobID: job.ID, Actor: actor(who), ExpectVersion: version}}
	if d.Reason, p = body.reason(); p != nil {
		return nil, p
	}
	return d, nil
}

func (f fields) reason() (string, *Problem) {
	reason, p := f.text("reason")
	if p == nil && utf8.RuneCountInString(reason) > maxReason {
		p = invalidField("reason", "The field reason is longer than %d characters.", maxReason)
	}
	return reason, p
}

// onAttempt is decide for a call on one attempt, which must say why.
func (s *Server) onAttempt(c echo.Context, who auth.Identity, allowed ...string) (*decision, error) {
	number, err := strconv.ParseUint(c.Param("n"), 10, 31)
	if err != nil || number == 0 {
		return nil, newProblem(&problemNotFound, "An attempt is named by its number, from 1.")
	}
	d, err := s.decide(c, who, allowed...)
	if err != nil {
		return nil, err
	}
	d.Attempt = int(number)
	if _, p := d.body.requiredText("reason"); p != nil {
		return nil, p
	}
	return d, nil
}

// cancelJob is POST /v1/jobs/{id}/cancel.
func (s *Server) cancelJob(c echo.Context, who auth.Identity) error {
	d, err := s.decide(c, who, "reason")
	if err != nil {
		return err
	}
	ctx, cancel := decided(c.Request().Context())
	defer cancel()
	changed, err := s.store.CancelJob(ctx, d.Decision)
	return s.answerChanged(c, http.StatusOK, changed, err)
}

// openAttempt is POST /v1/jobs/{id}/attempts: a person asks for another try.
func (s *Server) openAttempt(c echo.Context, who auth.Identity) error {
	d, err := s.decide(c, who, "provider", "reason")
	if err != nil {
		return err
	}
	provider, p := s.providerFor(d)
	if p != nil {
		return p
	}
	ctx, cancel := decided(c.Request().Context())
	defer cancel()
	changed, err := s.store.Open(ctx, jobs.OpenRequest{Decision: d.Decision, Provider: provider})
	if err == nil {
		c.Response().Header().Set("Location", locationOf(changed.Job))
	}
	return s.answerChanged(c, http.StatusCreated, changed, err)
}

// providerFor is the provider asked for, or the latest attempt's. Either must
// still be one of the job's route: nobody would serve its queue.
func (s *Server) providerFor(d *decision) (string, *Problem) {
	provider := d.job.Provider
	if _, ok := d.body["provider"]; ok {
		var p *Problem
		if provider, p = d.body.requiredText("provider"); p != nil {
			return "", p
		}
	}
	route, ok := s.config.Routes[d.job.Route]
	if !ok {
		return "", unknownRoute(d.job.Route, s.config.Routes)
	}
	return provider, route.checkProvider(d.job.Route, provider)
}

// cancelAttempt is POST /v1/jobs/{id}/attempts/{n}/cancel.
func (s *Server) cancelAttempt(c echo.Context, who auth.Identity) error {
	d, err := s.onAttempt(c, who, "reason", "then")
	if err != nil {
		return err
	}
	return s.resolve(c, d, string(jobs.AttemptCancelled), nil)
}

// resolveAttempt is POST /v1/jobs/{id}/attempts/{n}/resolve: an operator says
// what became of a call whose outcome nobody saw.
func (s *Server) resolveAttempt(c echo.Context, who auth.Identity) error {
	d, err := s.onAttempt(c, who, "outcome", "result", "reason", "then")
	if err != nil {
		return err
	}
	if _, ok := d.body["outcome"]; !ok {
		return missing("outcome")
	}
	outcome, p := d.body.choice("outcome", string(jobs.AttemptSucceeded), string(jobs.AttemptFailed), string(jobs.AttemptCancelled))
	if p != nil {
		return p
	}
	result, given := d.body["result"]
	won := outcome == string(jobs.AttemptSucceeded)
	if won != given {
		return invalidField("result", "The field result belongs to the outcome succeeded, and to it alone.")
	}
	if _, then := d.body["then"]; won && then {
		return invalidField("then", "The field then does not go with the outcome succeeded, which ends the job.")
	}
	return s.resolve(c, d, outcome, json.RawMessage(result))
}

func (s *Server) resolve(c echo.Context, d *decision, outcome string, result json.RawMessage) error {
	then, p := d.body.choice("then", "continue")
	if p != nil {
		return p
	}
	resolution := jobs.Resolution{Decision: d.Decision, Outcome: outcome, Result: result, Then: then}
	if err := s.config.CheckResult(d.job.Route, result); result != nil && err != nil {
		return invalidField("result", "The result breaks the output rules of route %s: %s.", d.job.Route, err)
	}
	ctx, cancel := decided(c.Request().Context())
	defer cancel()
	if then != "" {
		policy, err := s.config.PolicyFor(ctx, d.job.Route, d.job.Params)
		if err != nil {
			return storeUnavailable(err)
		}
		if resolution.Policy = policy; policy == nil {
			return unknownRoute(d.job.Route, s.config.Routes)
		}
	}
	changed, err := s.store.Resolve(ctx, resolution)
	return s.answerChanged(c, http.StatusOK, changed, err)
}

func (s *Server) answerChanged(c echo.Context, status int, changed jobs.Changed, err error) error {
	if err != nil {
		return err
	}
	s.wake(c.Request().Context(), changed.Wakes)
	return answerJob(c, status, changed.Job)
}
