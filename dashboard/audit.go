package dashboard

import (
	"errors"
	"net/url"
	"slices"

	"onejob/audit"
)

// auditPageSize is how many changes a page of the trail shows.
const auditPageSize = 50

// auditActions are what can be entered, for the filter. Every change names one of
// them.
var auditActions = slices.Concat([]string{"login", "logout", "monitor", actionPause, actionResume}, jobActions)

func (p *Pages) auditRoutes() []route {
	return []route{{"GET /audit", p.auditPage}}
}

// auditView is what the page Audit shows.
type auditView struct {
	Query    audit.Query
	Actions  []string
	Outcomes []audit.Outcome
	Entries  []audit.Entry
	Filtered bool
	Next     string // address of the next page; empty on the last
	First    string // address of the first page; empty there
}

func (p *Pages) auditPage(v *visit) error {
	asked := v.r.URL.Query()
	q := audit.Query{
		Actor: asked.Get("actor"), Action: asked.Get("action"), Target: asked.Get("target"),
		Outcome: audit.Outcome(asked.Get("outcome")), After: asked.Get("after"), Limit: auditPageSize,
	}
	ctx, cancel := v.ctx()
	defer cancel()
	found, err := p.cfg.Audit.List(ctx, q)
	if errors.Is(err, audit.ErrBadCursor) {
		return refuse("request-invalid", "The address of this page of the trail is damaged; begin at the first.")
	}
	if err != nil {
		return err
	}
	view := auditView{
		Query: q, Actions: slices.Sorted(slices.Values(auditActions)), Outcomes: audit.Outcomes, Entries: found.Entries,
		Filtered: q.Actor+q.Action+q.Target+string(q.Outcome) != "",
	}
	filter := url.Values{}
	for _, name := range []string{"actor", "action", "target", "outcome"} {
		if asked.Get(name) != "" {
			filter.Set(name, asked.Get(name))
		}
	}
	if q.After != "" {
		view.First = "?" + filter.Encode()
	}
	if found.Next != "" {
		filter.Set("after", found.Next)
		view.Next = "?" + filter.Encode()
	}
	live := "beat"
	if q.After != "" {
		live = ""
	}
	return v.page("audit", page{Title: "Audit trail", Nav: "Audit", Live: live, Data: view})
}
