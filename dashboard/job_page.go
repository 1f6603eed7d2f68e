package dashboard

import (
	"context"
	"html/template"
	"net/url"
	"slices"
	"time"

	"onejob/dashboard/consequence"
	"onejob/dashboard/payload"
	"onejob/dashboard/timeline"
	"onejob/jobs"
)

// trailMost is how many lines of a trail a page shows.
const trailMost = 500

// Widths of the two drawings of a timeline: a desk's and a phone's.
const (
	timelineWide   = 1040
	timelineNarrow = 340
)

// jobView is what the page of a job shows.
type jobView struct {
	Job      *jobs.Job
	Harmless bool
	Why      string // whether it may be tried again, and why (not)
	WhyKind  string // good, warn, bad or idle
	Choices  []choiceView
	Person   bool // nothing but a person settles it

	Timeline     timeline.Timeline
	Wide, Narrow template.HTML
	Attempts     []attemptView
	Trail        []jobs.Event
	TrailCut     bool

	Input, Params, Metadata, Result payload.Shown
	ErrorText                       string
	Webhook                         string // where its end is told, without what may be secret
	Op                              string // of what is asked for from this page
	Ticket                          string // its ticket in asynqmon; empty: it has none
}

// jobPage is GET /jobs/{id}.
func (p *Pages) jobPage(v *visit) error {
	job, err := v.job()
	if err != nil {
		return err
	}
	ctx, cancel := v.ctx()
	defer cancel()
	trail, cut, err := p.trail(ctx, job.ID)
	if err != nil {
		return err
	}
	now := time.Now()
	redact := p.cfg.Jobs.Redact
	p.hush(job, trail)
	drawn := timeline.Of(job, trail, now)
	view := jobView{
		Job: job, Harmless: p.cfg.Jobs.Routes[job.Route].Harmless, Choices: p.choices(job, now),
		Timeline: drawn, Wide: drawn.SVG("tl-wide", timelineWide), Narrow: drawn.SVG("tl-narrow", timelineNarrow),
		Trail: trail, TrailCut: cut, Webhook: withoutQuery(job.WebhookURL), Op: jobs.NewOp(),
		Input: redact.Show("input", job.Input), Params: redact.Show("params", job.Params),
		Metadata: redact.Show("metadata", job.Metadata), Result: redact.Show("result", job.Result),
	}
	view.Why, view.WhyKind, view.Person = whyOf(job)
	if job.Error != nil {
		view.ErrorText = redact.Text("error", job.Error.Message)
	}
	if job.State == jobs.Failed {
		view.Ticket = ticketURL(job)
	}
	for i := range job.Attempts {
		view.Attempts = append(view.Attempts, p.attemptView(job, &job.Attempts[i]))
	}
	live := liveAlways
	if job.State.Final() {
		live = "changed" // a late result may still come
	}
	return v.page("job", page{Title: "Job " + job.ID, Nav: "Jobs", Live: live, Data: view})
}

// trail reads the trail from its beginning, as much as a page shows.
func (p *Pages) trail(ctx context.Context, id string) (lines []jobs.Event, cut bool, err error) {
	lines, err = p.cfg.Jobs.Store.Events(ctx, id, "", trailMost+1)
	if err != nil {
		return nil, false, err
	}
	if len(lines) > trailMost {
		return lines[:trailMost], true, nil
	}
	return lines, false, nil
}

// hush redacts what providers said in answer to look-ups, wherever it is kept.
func (p *Pages) hush(job *jobs.Job, trail []jobs.Event) {
	for i := range trail {
		if trail[i].Verb == "look" {
			trail[i].Reason = p.said(trail[i].Reason)
		}
	}
	for i := range job.Attempts {
		if look := job.Attempts[i].Lookup; look != nil {
			look.Said = p.said(look.Said)
		}
	}
}

// said is what a look-up said, as it may be shown. The word for a provider at work is
// ours, and says nothing.
func (p *Pages) said(said string) string {
	if said == lookRunning {
		return said
	}
	return p.cfg.Jobs.Redact.Text("error", said)
}

// whyOf says whether a job may be tried again, and why, by what the record says of
// itself (jobs.Next, jobs.Block).
func whyOf(job *jobs.Job) (why, kind string, person bool) {
	switch job.State {
	case jobs.Succeeded:
		return "No. The job succeeded: it has its result, and there is nothing to try again.", "good", false
	case jobs.Cancelled:
		return "No. A person ended the job, for good. To have the work done, submit it again with a new key.", "idle", false
	case jobs.Failed:
		return "Yes. Every attempt has a definite end, and nobody is at it any more. It is tried again only if a person says so.", "bad", false
	default:
	}
	b := job.BlockedBy
	switch {
	case b == nil:
		return "Not now.", "idle", false
	case b.State == string(jobs.AttemptUnknown) && !consequence.SettlesItself(job):
		return "Not yet. Nobody knows whether the provider did the work, and nothing will tell by itself: a person has to find out and decide.", "warn", true
	case b.State == string(jobs.AttemptUnknown):
		return "Not yet. Nobody knows whether the provider did the work. It may still settle by itself; until then no other attempt opens.", "warn", false
	case job.Hold != "":
		return "Not now. The attempt that is to start is held back by an operator, who archived its wake-up.", "warn", true
	case b.State == string(jobs.AttemptStarting):
		return "Not now. An attempt is waiting for a worker.", "idle", false
	}
	return "Not now. An attempt is under way.", "info", false
}

// withoutQuery is a URL without what often is a secret in it.
func withoutQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	u.User, u.Fragment = nil, ""
	return payload.Line(u.String(), 300)
}

// Winner is the attempt that holds the result, nil while there is none.
func (j jobView) Winner() *attemptView {
	i := slices.IndexFunc(j.Attempts, func(a attemptView) bool { return a.Winner })
	if i < 0 {
		return nil
	}
	return &j.Attempts[i]
}
