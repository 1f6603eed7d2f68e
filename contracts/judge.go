package contracts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"onejob/providers"
)

// Violation is one rule that an answer breaks.
type Violation struct {
	Reason    string // one of the Reason constants: the class
	Assertion string // its type; "finish-reason" also for the rule every answer is under
	Path      string // in the contract; empty for that rule
	Line      int
	Message   string // what is wrong; says nothing of the answer
	Detail    string // may quote the answer; not to be kept with a job
}

// Retryable tells whether another attempt may follow; see Retryable.
func (v Violation) Retryable(effects string) bool { return Retryable(v.Reason, effects) }

// String is the violation in one line that may be kept.
func (v Violation) String() string {
	if v.Path == "" {
		return v.Message
	}
	return fmt.Sprintf("%s (%s): %s", v.Assertion, v.Path, v.Message)
}

// Check holds a result against the output rules: the finish reason first, then,
// where the contract asks for JSON, that it is JSON and nothing else, then the
// assertions of defaultTest that need no variables. Those about the call (cost,
// latency) are not among them. Nil means that it breaks none.
func (c *Contract) Check(result json.RawMessage) []Violation {
	return c.check(context.Background(), readAnswer(result), c.outputRules(), nil)
}

// Judge is Check for the outcome of a call, before it is finalized: an answer that
// breaks a rule is a definite failure with the class of the first violation, its
// effect done and its usage kept. It is never retryable here; Retryable says when
// a route may treat it so. An answer that breaks none has its parsed JSON added as
// output, where the contract asks for JSON. Other outcomes stay as they are.
func (c *Contract) Judge(o providers.Outcome) (judged providers.Outcome) {
	if o.Kind != providers.Succeeded {
		return o
	}
	defer func() {
		// An answer that a rule cannot survive is no answer that passed.
		if p := recover(); p != nil {
			judged = violated(o, Violation{Reason: ReasonViolation, Message: "the contract's rules could not be applied to this answer"})
		}
	}()
	a := readAnswer(o.Result)
	if violations := c.check(context.Background(), a, c.outputRules(), nil); len(violations) > 0 {
		return violated(o, violations[0])
	}
	if !a.ai || !a.asked {
		return o
	}
	result, err := a.withOutput()
	if err != nil {
		return violated(o, Violation{Reason: ReasonNotJSON, Message: "the output cannot be put into the result"})
	}
	if len(result) > providers.MaxResult {
		return violated(o, Violation{Reason: providers.ReasonResultTooLarge, Message: "the result with its output is too large"})
	}
	o.Result = result
	return o
}

func violated(o providers.Outcome, v Violation) providers.Outcome {
	return providers.Outcome{
		Kind: providers.Failed, Reason: v.Reason, Message: short(v.String(), 300), Usage: o.Usage,
		Effect: providers.EffectDone, Evidence: o.Evidence,
	}
}

// outputRules are the assertions every answer is under.
func (c *Contract) outputRules() []Assertion {
	return slices.DeleteFunc(slices.Clone(c.Default), func(a Assertion) bool { return a.needsVars() || a.ofTheCall() })
}

// AsksForJSON tells whether every answer must be JSON, which is then the result's
// output: an is-json without a transform is among defaultTest's assertions.
func (c *Contract) AsksForJSON() bool { return asksForJSON(c.Default) }

func asksForJSON(rules []Assertion) bool {
	return slices.ContainsFunc(rules, func(a Assertion) bool { return a.Type == "is-json" && a.transform == nil })
}

// check judges an answer by rules; vars are those of the test, if it is one.
func (c *Contract) check(ctx context.Context, a *answer, rules []Assertion, vars map[string]any) []Violation {
	a.asked = asksForJSON(rules)
	if v := finished(a, rules); v != nil {
		return []Violation{*v}
	}
	s := subject{answer: a, text: a.content, vars: texted(vars), values: vars}
	var violations []Violation
	for i := range rules {
		rule := &rules[i]
		if v := rule.judge(ctx, s); !v.ok {
			violations = append(violations, rule.violation(v))
		}
	}
	// What is no JSON breaks most other rules, too: that is said first.
	if _, fault := a.parsed(); a.asked && fault != nil {
		return slices.DeleteFunc(violations, func(v Violation) bool { return v.Assertion != "is-json" })
	}
	return violations
}

func (a *Assertion) violation(v verdict) Violation {
	if v.reason == "" {
		v.reason = ReasonViolation
	}
	return Violation{Reason: v.reason, Assertion: a.Type, Path: a.Path, Line: a.Line, Message: v.why, Detail: v.detail}
}

// finished checks the finish reason, before anything is parsed (design §6). A
// finish-reason among the rules says that another end than stop is wanted.
func finished(a *answer, rules []Assertion) *Violation {
	if !a.ai {
		return nil
	}
	own := slices.ContainsFunc(rules, func(r Assertion) bool { return r.Type == "finish-reason" })
	v := Violation{Assertion: "finish-reason"}
	switch class := finishClass(a.finish); {
	case class == finishRefused:
		v.Reason, v.Message = ReasonRefused, "the provider's filter, or the model, refused"
	case class == finishLength && !own:
		v.Reason, v.Message = ReasonTruncated, "the answer was cut at its length"
	case class == "":
		v.Reason, v.Message = ReasonUnfinished, "the finish reason does not say that the answer is whole"
	case class == finishTools && !own, class == finishStop && a.none:
		v.Reason, v.Message = ReasonEmpty, "there is no content"
	default:
		return nil
	}
	return &v
}
