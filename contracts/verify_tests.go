package contracts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"onejob/providers"
)

// tests proves schema and round_trip.
//
// schema: in every run, the answer of every test kept every assertion of the
// contract, cost and latency too, and ended with a finish reason that says it is
// whole.
//
// round_trip: every one of these calls, made through the provider's own type with
// the route's own options, came back as a definite success; and where JSON is
// asked for, it survived the way into the job's result and out of it unchanged.
func (s *session) tests(ctx context.Context) {
	t := tally{}
	for run := 1; run <= s.runs; run++ {
		for i := range s.contract.Tests {
			if ctx.Err() != nil {
				return
			}
			s.test(ctx, fmt.Sprintf("run %d, test %d", run, i+1), &s.contract.Tests[i], &t)
		}
	}
	count := fmt.Sprintf("%d tests × %d runs", len(s.contract.Tests), s.runs)
	switch {
	case t.unanswered != "":
		s.leaveOpen(PropertyRoundTrip, t.unanswered)
	case t.failed != "":
		s.prove(PropertyRoundTrip, false, t.failed)
	default:
		s.prove(PropertyRoundTrip, true, count+", all answered"+t.models(s.target.Model))
	}
	switch {
	case t.broke > 0:
		s.prove(PropertySchema, false, fmt.Sprintf("%d of %s broke an assertion", t.broke, count))
	case t.unanswered != "":
		s.leaveOpen(PropertySchema, t.unanswered)
	case t.failed != "":
		s.prove(PropertySchema, false, t.failed)
	default:
		s.prove(PropertySchema, true, count+", every assertion held")
	}
}

// tally is what the tests came to.
type tally struct {
	broke      int
	unanswered string // the first call without an answer
	failed     string // the first call that was answered with no, or whose output did not survive
	answered   []string
}

// models says which models answered, where that is not the one asked for.
func (t tally) models(asked string) string {
	slices.Sort(t.answered)
	names := slices.Compact(t.answered)
	if len(names) == 0 || len(names) == 1 && names[0] == asked {
		return ""
	}
	return "; the model says it is " + strings.Join(names, ", ")
}

func (s *session) test(ctx context.Context, what string, test *Test, t *tally) {
	input, err := s.input(test.Vars)
	if err != nil {
		t.failed = err.Error()
		return
	}
	rules := slices.Concat(s.contract.Default, test.Assert)
	var a *answer
	var violations []Violation
	o := s.call(ctx, what, input, s.params, func(o providers.Outcome) bool {
		if o.Kind != providers.Succeeded {
			return false
		}
		a = readAnswer(o.Result)
		if e := o.Evidence; !e.SentAt.IsZero() {
			a.latency = e.LastByteAt.Sub(e.SentAt)
		}
		violations = s.contract.check(ctx, a, rules, test.Vars)
		return len(violations) == 0
	})
	switch {
	case a == nil:
		s.unanswered(what, o, t)
		return
	case len(violations) > 0:
		t.broke++
	case a.ai && a.asked && !survives(a):
		t.failed = what + ": the output did not survive the way into the result"
	}
	t.answered = append(t.answered, modelOf(a)...)
	for _, v := range violations {
		s.report.Findings = append(s.report.Findings, Finding{Violation: v, What: what, Answer: short(a.content, maxAnswer)})
	}
}

func (s *session) unanswered(what string, o providers.Outcome, t *tally) {
	first := &t.failed
	if noAnswer(o) {
		first = &t.unanswered
	}
	if *first == "" {
		*first = what + ": " + said(o)
	}
	s.report.Findings = append(s.report.Findings, Finding{
		What: what, Violation: Violation{Reason: o.Reason, Assertion: "round_trip", Message: said(o)},
	})
}

// survives: the output that a job would get is the JSON that the provider sent.
func survives(a *answer) bool {
	result, err := a.withOutput()
	if err != nil {
		return false
	}
	members, err := object(result)
	if err != nil {
		return false
	}
	back, fault := parseJSON(string(members["output"]))
	return fault == nil && equalJSON(back, a.json)
}

func modelOf(a *answer) []string {
	var model string
	if json.Unmarshal(a.members["model"], &model) != nil || model == "" {
		return nil
	}
	return []string{short(model, 80)}
}
