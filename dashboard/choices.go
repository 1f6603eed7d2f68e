package dashboard

import (
	"net/url"
	"strconv"
	"time"

	"onejob/dashboard/consequence"
	"onejob/jobs"
)

// choiceView is a decision that can be made about a job now, as a link to the page
// that asks for it.
type choiceView struct {
	Action  consequence.Action
	Attempt int
	Label   string
	Risk    string // the worst of it; empty: none
	Grade   consequence.Grade
	URL     string
}

// labels are what the choices are called.
var labels = map[consequence.Action]string{
	consequence.Wait:          "Wait",
	consequence.Succeed:       "It succeeded",
	consequence.Fail:          "It failed",
	consequence.CancelAttempt: "Cancel the attempt",
	consequence.CancelJob:     "Cancel the job",
	consequence.Retry:         "Retry",
}

// choices are the decisions the store would take of a job as it is, the most careful
// first.
func (p *Pages) choices(job *jobs.Job, now time.Time) []choiceView {
	var choices []choiceView
	add := func(action consequence.Action, attempt int) {
		choice := p.choice(job, action, attempt, now)
		c := consequence.Of(choice)
		if c.Refused != "" {
			return
		}
		view := choiceView{Action: action, Attempt: attempt, Label: labels[action], Grade: c.Grade, URL: decideURL(job.ID, action, attempt)}
		if len(c.Risks) > 0 {
			view.Risk = c.Risks[0]
		}
		choices = append(choices, view)
	}
	open := 0
	for _, a := range job.Attempts {
		if a.State.Open() {
			open++
		}
	}
	for _, action := range consequence.Actions {
		if !action.OnAttempt() {
			add(action, 0)
			continue
		}
		for _, a := range job.Attempts {
			before := len(choices)
			add(action, a.Number)
			if open > 1 && len(choices) > before {
				choices[before].Label += " (attempt " + strconv.Itoa(a.Number) + ")"
			}
		}
	}
	return choices
}

// choice is a decision about a job on one of the configured routes.
func (p *Pages) choice(job *jobs.Job, action consequence.Action, attempt int, now time.Time) consequence.Choice {
	return consequence.Choice{
		Action: action, Job: job, Attempt: attempt, Harmless: p.cfg.Jobs.Routes[job.Route].Harmless, Now: now,
	}
}

func decideURL(job string, action consequence.Action, attempt int) string {
	values := url.Values{"action": {string(action)}}
	if attempt > 0 {
		values.Set("attempt", strconv.Itoa(attempt))
	}
	return jobURL(job) + "/decide?" + values.Encode()
}
