package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onejob/auth"
	"onejob/jobs"
)

// Lengths of lists.
const (
	defaultJobs, maxJobs     = 20, 100
	defaultEvents, maxEvents = 100, 1000
)

// list is the answer of every call that lists something.
type list[T any] struct {
	Data       []T    `json:"data"`
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor,omitempty"` // for after; set with has_more
}

var listParams = []string{"state", "route", "idempotency_key", "owner", "limit", "after"}

// listJobs is GET /v1/jobs: newest first.
func (s *Server) listJobs(c echo.Context, who auth.Identity) error {
	query, p := jobQuery(c.QueryParams(), who)
	if p != nil {
		return p
	}
	ctx, cancel := reading(c.Request().Context())
	defer cancel()
	page, err := s.store.List(ctx, query)
	if err != nil {
		return err //nolint:wrapcheck // judged by problemOf
	}
	out := list[*jobs.Job]{Data: page.Jobs, HasMore: page.HasMore, NextCursor: page.Next}
	if out.Data == nil {
		out.Data = []*jobs.Job{}
	}
	return answer(c, http.StatusOK, out)
}

func jobQuery(params url.Values, who auth.Identity) (jobs.Query, *Problem) {
	q := jobs.Query{}
	if p := checkParams(params, listParams); p != nil {
		return q, p
	}
	q.State, q.Route, q.After, q.Owner = jobs.State(params.Get("state")), params.Get("route"), params.Get("after"), params.Get("owner")
	if params.Has("state") && !q.State.Valid() {
		return q, newProblem(&problemRequestInvalid, "There is no state %q.", clip(string(q.State))).at("state", stateNames()...)
	}
	var p *Problem
	if params.Has("idempotency_key") {
		if q.Key, p = parseKey(params.Get("idempotency_key")); p != nil {
			return q, newProblem(&problemRequestInvalid, "%s", p.Detail).at("idempotency_key")
		}
	}
	if q.Limit, p = limitOf(params, defaultJobs, maxJobs); p != nil {
		return q, p
	}
	q.Owner, p = ownerFilter(q.Owner, who)
	return q, p
}

// ownerFilter is whose jobs are listed: an owner's are his own.
func ownerFilter(asked string, who auth.Identity) (string, *Problem) {
	if who.SeesEveryone() {
		return asked, nil
	}
	if asked != "" && asked != who.Owner {
		return "", newProblem(&problemForbidden, "A key of role %s sees its own owner's jobs only.", who.Role).at("owner")
	}
	return who.Owner, nil
}

// checkParams refuses parameters that are not known, or sent twice: a filter
// that is silently ignored answers another question.
func checkParams(params url.Values, allowed []string) *Problem {
	for name, values := range params {
		if !slices.Contains(allowed, name) {
			return newProblem(&problemRequestInvalid, "The query parameter %q is not known.", clip(name)).at(clip(name), allowed...)
		}
		if len(values) > 1 {
			return newProblem(&problemRequestInvalid, "The query parameter %s was sent %d times.", name, len(values)).at(name)
		}
	}
	return nil
}

func limitOf(params url.Values, normal, most int) (int, *Problem) {
	if !params.Has("limit") {
		return normal, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(params.Get("limit")))
	if err != nil || n < 1 || n > most {
		return 0, newProblem(&problemRequestInvalid, "The limit must be a number from 1 to %d.", most).at("limit")
	}
	return n, nil
}

func stateNames() []string {
	names := make([]string, len(jobs.States))
	for i, state := range jobs.States {
		names[i] = string(state)
	}
	return names
}
