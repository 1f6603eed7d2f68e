package dashboard

import (
	"errors"
	"fmt"
	"net/http"

	"onejob/dashboard/consequence"
	"onejob/jobs"
)

// Steps of a decision: it is written, then its consequence is named, then it is made.
const (
	stepWrite   = "write"
	stepReview  = "review"
	stepConfirm = "confirm"
)

// decideView is what the page about a decision shows.
type decideView struct {
	decision
	Consequence consequence.Consequence
	GoesOn      bool // the plan can be gone on by
	Providers   []string
	Review      bool   // the consequence of what was written; else the form
	Field       string // the field that is wrong
	Wrong       string // why
	Job         *jobs.Job
	Attempt     *attemptView // nil when the decision is about none
	Most        int          // characters of a reason
}

// movedView is what is shown instead when a decision is not possible any more.
type movedView struct {
	Why string
	Job *jobs.Job
	Row jobRow
}

// decidePage is GET /jobs/{id}/decide: the form.
func (p *Pages) decidePage(v *visit) error {
	if !v.who.MayOperate() {
		return refuse("forbidden", "Your key has the role viewer: it looks at everything and changes nothing. Sign in with an operator's key to do this.")
	}
	job, err := v.job()
	if err != nil {
		return err
	}
	d := v.readDecision(job)
	d.Version, d.Seen = job.Version, seenNow(job)
	return v.showDecision(http.StatusOK, d, stepWrite, "", "")
}

// decide is POST /jobs/{id}/decide.
func (p *Pages) decide(v *visit) error {
	job, err := v.job()
	if err != nil {
		return err
	}
	d := v.readDecision(job)
	step := v.field("step")
	if d.Version < 1 {
		return refuse("request-invalid", "The form is damaged: it does not say which version of the job was shown.")
	}
	if d.movedOn() || step != stepConfirm && d.Version != job.Version {
		return v.movedOn(http.StatusPreconditionFailed, job, "The job moved on since this page was shown to you. Nothing was changed.")
	}
	if step == stepWrite {
		return v.showDecision(http.StatusOK, d, stepWrite, "", "")
	}
	if field, wrong := p.check(d); wrong != "" {
		return v.showDecision(http.StatusBadRequest, d, stepWrite, field, wrong)
	}
	if step != stepConfirm {
		return v.showDecision(http.StatusOK, d, stepReview, "", "")
	}
	ctx, cancel := decided(v.r.Context())
	defer cancel()
	changed, err := v.carryOut(ctx, d)
	if problemIs(err, "version-mismatch") || problemIs(err, "job-final") {
		return v.movedOnSince(job.ID, err)
	}
	if err != nil {
		return err
	}
	return v.done(sentence(d, changed), jobURL(job.ID))
}

// job reads the job the address names.
func (v *visit) job() (*jobs.Job, error) {
	ctx, cancel := v.ctx()
	defer cancel()
	return v.cfg.Jobs.Store.Get(ctx, v.r.PathValue("id"))
}

func (v *visit) showDecision(status int, d decision, step, field, wrong string) error {
	c := consequence.Of(d.Choice)
	if c.Refused != "" {
		return v.movedOn(http.StatusConflict, d.Job, c.Refused)
	}
	view := decideView{
		decision: d, Consequence: c, Review: step == stepReview, Field: field, Wrong: wrong, Job: d.Job, Most: maxReason,
		Providers: v.cfg.Jobs.Routes[d.Job.Route].Providers,
	}
	if d.Provider == "" && d.Action == consequence.Retry {
		view.Provider = d.Job.Provider
	}
	if a := d.Job.Attempt(d.Choice.Attempt); a != nil && d.Action.OnAttempt() {
		shown := v.attemptView(d.Job, a)
		view.Attempt = &shown
	}
	_, configured := v.cfg.Jobs.Routes[d.Job.Route]
	view.GoesOn = configured && (d.Action == consequence.Fail || d.Action == consequence.CancelAttempt)
	v.show(status, "decide", page{Title: c.Title, Nav: "Jobs", Data: view})
	return nil
}

// movedOnSince shows the job as it is now, after the store has refused.
func (v *visit) movedOnSince(id string, refusal error) error {
	ctx, cancel := v.ctx()
	defer cancel()
	job, err := v.cfg.Jobs.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	status := http.StatusConflict
	if problemIs(refusal, "version-mismatch") {
		status = http.StatusPreconditionFailed
	}
	var r *Refusal
	errors.As(refusal, &r)
	return v.movedOn(status, job, r.Detail)
}

func (v *visit) movedOn(status int, job *jobs.Job, why string) error {
	v.show(status, "moved", page{Title: "The job stands otherwise", Nav: "Jobs", Data: movedView{Why: why, Job: job, Row: rowOf(job)}})
	return nil
}

// sentence says what was done.
func sentence(d decision, job *jobs.Job) string {
	now := fmt.Sprintf(" The job is %s, at version %d.", job.State, job.Version)
	switch d.Action {
	case consequence.Wait:
		return "Noted: you looked and chose to wait." + now
	case consequence.Succeed:
		return fmt.Sprintf("Attempt %d is declared succeeded.", d.Choice.Attempt) + now
	case consequence.Fail:
		return fmt.Sprintf("Attempt %d is declared failed.", d.Choice.Attempt) + now
	case consequence.CancelAttempt:
		return fmt.Sprintf("Attempt %d is cancelled.", d.Choice.Attempt) + now
	case consequence.CancelJob:
		return "The job is cancelled."
	case consequence.Retry:
		return fmt.Sprintf("Attempt %d is opened at %s.", len(job.Attempts), job.Provider) + now
	}
	return ""
}
