package dashboard

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"onejob/dashboard/payload"
	"onejob/jobs"
)

// jobsPageSize is how many jobs a page of the list shows.
const jobsPageSize = 50

// jobFilter is what a person has asked to see, as he wrote it.
type jobFilter struct {
	State, Owner, Route, Provider, Key, Since, Until string
}

// filterNames are the fields of a filter, as they are in addresses.
var filterNames = []string{"state", "owner", "route", "provider", "key", "since", "until"}

func readFilter(values url.Values) jobFilter {
	get := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	return jobFilter{
		State: get("state"), Owner: get("owner"), Route: get("route"), Provider: get("provider"), Key: get("key"),
		Since: get("since"), Until: get("until"),
	}
}

// Values are the fields that say something, for addresses and forms.
func (f jobFilter) Values() url.Values {
	values := url.Values{}
	for i, value := range []string{f.State, f.Owner, f.Route, f.Provider, f.Key, f.Since, f.Until} {
		if value != "" {
			values.Set(filterNames[i], value)
		}
	}
	return values
}

// query is what the store is asked for.
func (f jobFilter) query() (jobs.Query, error) {
	q := jobs.Query{Owner: f.Owner, State: jobs.State(f.State), Route: f.Route, Provider: f.Provider, Key: f.Key}
	if f.State != "" && !q.State.Valid() {
		return q, refuse("request-invalid", "There is no state of that name.")
	}
	var err error
	if q.Since, err = timeField("From", f.Since); err != nil {
		return q, err
	}
	q.Until, err = timeField("Until", f.Until)
	return q, err
}

// timeForms are what a browser's field for a moment sends, with the zone that is
// said beside it, and RFC 3339.
var timeForms = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05.000", time.RFC3339Nano, time.DateOnly}

func timeField(name, value string) (jobs.Time, error) {
	if value == "" {
		return 0, nil
	}
	for _, form := range timeForms {
		if at, err := time.Parse(form, value); err == nil && at.UnixMilli() > 0 {
			return jobs.Time(at.UnixMilli()), nil
		}
	}
	return 0, refuse("request-invalid", name+" is not a time: write it like 2026-03-04T12:30, in UTC.")
}

// jobsView is what the page Jobs shows.
type jobsView struct {
	Filter    jobFilter
	Filtered  bool
	Wrong     string // what is wrong with the filter
	Jobs      []jobRow
	States    []jobs.State
	Routes    []string
	Providers []string
	Next      string // address of the next page; empty on the last
	First     string // address of the first page; empty there
	Most      int    // that one bulk change takes
}

// jobRow is a job in a list.
type jobRow struct {
	*jobs.Job
	Line string // what there is to say about its state
}

func rowOf(job *jobs.Job) jobRow {
	row := jobRow{Job: job}
	switch {
	case job.Hold != "":
		row.Line = "held: " + payload.Line(job.Hold, 80)
	case job.Error != nil:
		row.Line = payload.Line(job.Error.Code, 80)
	case job.BlockedBy != nil && job.BlockedBy.Reason != "":
		row.Line = payload.Line(job.BlockedBy.Reason, 80)
	}
	return row
}

// jobsPage is GET /jobs.
func (p *Pages) jobsPage(v *visit) error {
	asked := v.r.URL.Query()
	filter := readFilter(asked)
	view := jobsView{
		Filter: filter, Filtered: len(filter.Values()) > 0, States: jobs.States,
		Routes: p.cfg.Jobs.routeNames(), Providers: p.cfg.Jobs.providerNames(), Most: bulkMost,
	}
	q, err := filter.query()
	if err != nil {
		view.Wrong = err.Error()
		return v.page("jobs", page{Title: "Jobs", Nav: "Jobs", Data: view})
	}
	q.Limit, q.After = jobsPageSize, asked.Get("after")
	ctx, cancel := v.ctx()
	defer cancel()
	found, err := p.cfg.Jobs.Store.List(ctx, q)
	if err != nil {
		return badCursor(err)
	}
	for _, job := range found.Jobs {
		view.Jobs = append(view.Jobs, rowOf(job))
	}
	live := "changed"
	address := filter.Values()
	if q.After != "" {
		view.First, live = "?"+address.Encode(), ""
	}
	if found.HasMore {
		address.Set("after", found.Next)
		view.Next = "?" + address.Encode()
	}
	return v.page("jobs", page{Title: "Jobs", Nav: "Jobs", Live: live, Data: view})
}

// badCursor says of a damaged address that it is one.
func badCursor(err error) error {
	if errors.Is(err, jobs.ErrBadCursor) {
		return refuse("request-invalid", "The address of this page of the list is damaged; begin at the first.")
	}
	return err
}
