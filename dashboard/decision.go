package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"onejob/dashboard/consequence"
	"onejob/jobs"
)

// decision is what a person asks of a job: read from the form, checked, and given to
// the store.
type decision struct {
	consequence.Choice
	Result  string
	Reason  string
	Version int64  // of the job as it was shown
	Seen    string // its attempts as they were shown
	Op      string // the same for every sending of the same form
}

// auditNames name the actions in the audit log.
var auditNames = map[consequence.Action]string{
	consequence.Wait:          "wait",
	consequence.Succeed:       "resolve-succeeded",
	consequence.Fail:          "resolve-failed",
	consequence.CancelAttempt: "cancel-attempt",
	consequence.CancelJob:     "cancel-job",
	consequence.Retry:         "retry-job",
}

// jobActions are the same, for the filter of the audit page.
var jobActions = []string{"wait", "resolve-succeeded", "resolve-failed", "cancel-attempt", "cancel-job", "retry-job", actionRedeliver}

// seenNow is the states of all attempts in one word. The version of a job does not
// rise with everything that happens to it; who decides about what he saw is told when
// it is not so any more.
func seenNow(job *jobs.Job) string {
	var parts []string
	for _, a := range job.Attempts {
		parts = append(parts, fmt.Sprintf("%d-%s", a.Number, a.State))
	}
	return strings.Join(parts, ".")
}

// ops are ids of operations as jobs.NewOp makes them.
var ops = regexp.MustCompile(`^[A-Z2-7]{16}$`)

// readDecision reads what a form says; what it leaves out is empty.
func (v *visit) readDecision(job *jobs.Job) decision {
	get := v.r.PostForm.Get
	if looks(v.r) {
		get = v.r.URL.Query().Get
	}
	attempt, _ := strconv.Atoi(get("attempt"))
	version, _ := strconv.ParseInt(get("version"), 10, 64)
	d := decision{
		Choice: v.choice(job, consequence.Action(get("action")), attempt, time.Now()),
		Result: get("result"), Reason: strings.TrimSpace(get("reason")), Version: version, Seen: get("seen"), Op: get("op"),
	}
	d.Continue = get("continue") != "" && (d.Action == consequence.Fail || d.Action == consequence.CancelAttempt)
	if d.Action == consequence.Retry {
		d.Provider = get("provider")
	}
	if !ops.MatchString(d.Op) {
		d.Op = jobs.NewOp()
	}
	return d
}

// movedOn tells whether the job is not what it was when the form was shown. A version
// that has risen is left to the store: it knows this very operation if it has done it
// already.
func (d decision) movedOn() bool {
	return d.Version == d.Job.Version && d.Seen != seenNow(d.Job)
}

// check holds what was written against what is wanted; the name is the field's.
func (p *Pages) check(d decision) (field, wrong string) {
	if _, err := checkReason(d.Reason); err != nil {
		return "reason", err.Error()
	}
	switch d.Action {
	case consequence.Succeed:
		return "result", p.checkResult(d.Job.Route, d.Result)
	case consequence.Retry:
		return "provider", p.checkProvider(d.Job, d.Provider)
	case consequence.Wait, consequence.Fail, consequence.CancelAttempt, consequence.CancelJob:
	}
	return "", ""
}

// checkResult holds a result to the rules of the API (design §7): strict JSON whose
// numbers can be read, and the output rules of the route.
func (p *Pages) checkResult(route, result string) string {
	if strings.TrimSpace(result) == "" {
		return "Enter the result as JSON: it becomes the job's result."
	}
	dec := jsontext.NewDecoder(bytes.NewReader([]byte(result)))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			if dec.StackDepth() == 0 && strings.TrimSpace(result[dec.InputOffset():]) == "" {
				break
			}
			return fmt.Sprintf("This is not JSON: %s.", strings.TrimPrefix(err.Error(), "jsontext: "))
		}
		if token.Kind() == '0' {
			if _, err := strconv.ParseFloat(token.String(), 64); err != nil {
				return "A number in it is out of range."
			}
		}
		if dec.StackDepth() == 0 && strings.TrimSpace(result[dec.InputOffset():]) != "" {
			return "There is more behind the end of the JSON."
		}
	}
	if err := p.cfg.Jobs.CheckResult(route, json.RawMessage(result)); err != nil {
		return fmt.Sprintf("The result breaks the output rules of route %s: %s.", route, err)
	}
	return ""
}

// checkProvider refuses a provider nobody would serve the job at.
func (p *Pages) checkProvider(job *jobs.Job, provider string) string {
	if provider == "" {
		provider = job.Provider
	}
	r, ok := p.cfg.Jobs.Routes[job.Route]
	switch {
	case !ok:
		return fmt.Sprintf("Route %s is not in the configuration any more, so nobody would make the call.", job.Route)
	case !slices.Contains(r.Providers, provider):
		return fmt.Sprintf("Provider %s is not one of route %s; its providers are %s.", provider, job.Route, strings.Join(r.Providers, ", "))
	}
	return ""
}

// carryOut gives a decision to the store, with an entry in the audit log, and has
// what it opened woken. Errors are a Refusal, or the store's being away.
func (v *visit) carryOut(ctx context.Context, d decision) (*jobs.Job, error) {
	target := d.Job.ID
	if d.Action.OnAttempt() {
		target += fmt.Sprintf(" attempt %d", d.Attempt)
	}
	var changed jobs.Changed
	err := v.audited(ctx, v.entry(auditNames[d.Action], target, d.Reason), func(ctx context.Context) error {
		var err error
		changed, err = v.ask(ctx, d)
		return refusedVerb(err)
	})
	if err != nil {
		return nil, err
	}
	v.wake(ctx, changed)
	return changed.Job, nil
}

// ask asks the store. What may be done is decided there.
func (v *visit) ask(ctx context.Context, d decision) (jobs.Changed, error) {
	store := v.cfg.Jobs.Store
	verb := jobs.Decision{
		JobID: d.Job.ID, Attempt: d.Attempt, Actor: actor(v.who), Reason: d.Reason, ExpectVersion: d.Version, Op: d.Op,
	}
	switch d.Action {
	case consequence.Wait:
		return store.Wait(ctx, verb)
	case consequence.Succeed:
		return store.Resolve(ctx, jobs.Resolution{
			Decision: verb, Outcome: string(jobs.AttemptSucceeded), Result: json.RawMessage(d.Result),
		})
	case consequence.Fail:
		return v.resolve(ctx, d, verb, jobs.AttemptFailed)
	case consequence.CancelAttempt:
		return v.resolve(ctx, d, verb, jobs.AttemptCancelled)
	case consequence.CancelJob:
		return store.CancelJob(ctx, verb)
	case consequence.Retry:
		return store.Open(ctx, jobs.OpenRequest{Decision: verb, Provider: d.Provider})
	}
	return jobs.Changed{}, refuse("request-invalid", "There is no such decision.")
}

func (v *visit) resolve(ctx context.Context, d decision, verb jobs.Decision, outcome jobs.AttemptState) (jobs.Changed, error) {
	r := jobs.Resolution{Decision: verb, Outcome: string(outcome)}
	if d.Continue {
		policy, err := v.cfg.Jobs.PolicyFor(ctx, d.Job.Route, d.Job.Params)
		if err != nil {
			return jobs.Changed{}, fmt.Errorf("looking for the plan of route %s: %w", d.Job.Route, err)
		}
		if policy == nil {
			return jobs.Changed{}, refuse("request-invalid",
				fmt.Sprintf("Route %s is not in the configuration any more, so there is no plan to go on by.", d.Job.Route))
		}
		r.Then, r.Policy = "continue", policy
	}
	return v.cfg.Jobs.Store.Resolve(ctx, r)
}
