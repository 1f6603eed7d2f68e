package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Newer      int    `json:"newer,omitempty"`       // jobs left out, for a newer onejob wrote them
}

var listParams = []string{"state", "route", "provider", "idempotency_key", "owner", "since", "until", "limit", "after"}

// listJobs is GET /v1/jobs: newest first.
func (s *Server) listJobs(c echo.Context, who auth.Identity) error {
	params, p := queryOf(c.Request(), listParams)
	if p != nil {
		return p
	}
	query, p := jobQuery(params, who)
	if p != nil {
		return p
	}
	ctx, cancel := reading(c.Request().Context())
	defer cancel()
	page, err := s.store.List(ctx, query)
	if err != nil {
		return err
	}
	out := list[*jobs.Job]{Data: page.Jobs, HasMore: page.HasMore, NextCursor: page.Next, Newer: page.Newer}
	if out.Data == nil {
		out.Data = []*jobs.Job{}
	}
	return answer(c, http.StatusOK, out)
}

func jobQuery(params url.Values, who auth.Identity) (jobs.Query, *Problem) {
	q := jobs.Query{
		State: jobs.State(params.Get("state")), Route: params.Get("route"), Provider: params.Get("provider"),
		After: params.Get("after"), Owner: params.Get("owner"),
	}
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
	if q.Since, p = timeOf(params, "since"); p != nil {
		return q, p
	}
	if q.Until, p = timeOf(params, "until"); p != nil {
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

// queryOf reads the query parameters. It refuses what it does not know and what
// is sent twice: a filter that is silently ignored answers another question.
func queryOf(r *http.Request, allowed []string) (url.Values, *Problem) {
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, newProblem(&problemRequestInvalid, "The query cannot be read.").because(err)
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(allowed, name) {
			return nil, newProblem(&problemRequestInvalid, "The query parameter %q is not known.", clip(name)).at(clip(name), allowed...)
		}
		if n := len(params[name]); n > 1 {
			return nil, newProblem(&problemRequestInvalid, "The query parameter %s was sent %d times.", name, n).at(name)
		}
	}
	return params, nil
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

// timeOf reads an RFC 3339 time; 0 where there is none.
func timeOf(params url.Values, name string) (jobs.Time, *Problem) {
	if !params.Has(name) {
		return 0, nil
	}
	at, err := time.Parse(time.RFC3339, params.Get(name))
	if err != nil || at.UnixMilli() <= 0 {
		return 0, newProblem(&problemRequestInvalid, "%s must be an RFC 3339 time, like 2026-01-31T09:00:00Z.", name).at(name)
	}
	return jobs.Time(at.UnixMilli()), nil
}

func stateNames() []string {
	names := make([]string, len(jobs.States))
	for i, state := range jobs.States {
		names[i] = string(state)
	}
	return names
}
