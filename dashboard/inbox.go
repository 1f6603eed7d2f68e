package dashboard

import (
	"cmp"
	"slices"
	"time"

	"onejob/dashboard/consequence"
	"onejob/jobs"
)

// inboxMost is how many unknown jobs one page shows.
const inboxMost = 200

// inboxView is what the page Unknown shows, the longest unknown first.
type inboxView struct {
	Person []inboxItem // what needs a person
	Itself []inboxItem // what may still settle by itself
	More   string      // address of the next page; empty on the last
	First  string      // address of the first; empty there
}

// inboxItem is one unknown job.
type inboxItem struct {
	Job      *jobs.Job
	Attempt  attemptView
	Block    *jobs.Block
	Since    time.Time
	Harmless bool
	Choices  []choiceView
	Doubtful bool // looked up again and again in vain: it may never settle by itself
}

// Looking up this often, without finding the provider at work, is hardly going to
// settle anything.
const manyLookups = 5

// inboxPage is GET /unknown.
func (p *Pages) inboxPage(v *visit) error {
	ctx, cancel := v.ctx()
	defer cancel()
	after := v.r.URL.Query().Get("after")
	found, err := p.cfg.Jobs.Store.List(ctx, jobs.Query{State: jobs.Unknown, Limit: inboxMost, After: after})
	if err != nil {
		return badCursor(err)
	}
	var view inboxView
	for _, job := range found.Jobs {
		if job.BlockedBy == nil { // settled between the index and the record
			continue
		}
		item := p.inboxItem(job)
		if consequence.SettlesItself(job) {
			view.Itself = append(view.Itself, item)
		} else {
			view.Person = append(view.Person, item)
		}
	}
	for _, items := range [][]inboxItem{view.Person, view.Itself} {
		slices.SortStableFunc(items, func(a, b inboxItem) int { return cmp.Compare(a.Block.Since, b.Block.Since) })
	}
	if found.HasMore {
		view.More = Root + "/unknown?after=" + found.Next
	}
	if after != "" {
		view.First = Root + "/unknown"
	}
	return v.page("unknown", page{Title: "Unknown", Nav: "Unknown", Live: liveAlways, Data: view})
}

func (p *Pages) inboxItem(job *jobs.Job) inboxItem {
	item := inboxItem{Job: job, Block: job.BlockedBy, Since: job.BlockedBy.Since.Go(), Harmless: p.cfg.Jobs.Routes[job.Route].Harmless}
	if a := job.Attempt(job.BlockedBy.Attempt); a != nil {
		item.Attempt = p.attemptView(job, a)
		look := a.Lookup
		item.Doubtful = job.BlockedBy.ListeningUntil.IsZero() && look != nil && look.Said != lookRunning && look.Times >= manyLookups
	}
	item.Choices = p.choices(job, time.Now())
	return item
}

// lookRunning is what is noted of a look-up that found the provider at work.
const lookRunning = "running"
