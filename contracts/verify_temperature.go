package contracts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"onejob/providers"
)

// What temperature proves, and what it does not.
//
// The contract's options.temperature is the highest that a call of the route may
// be made with; Params sees to it that none asks for more. What is left to prove is
// that the provider obeys the parameter, instead of dropping it on the way, as
// routers do. Either of two things proves it:
//
//   - The answers say which temperature they were made with (a member temperature
//     of the response, as the Responses API has it), and none says more than is
//     allowed.
//   - A prompt whose answer is left to chance, sent at temperature 0 at least three
//     times, has the same answer every time. A provider that drops the parameter
//     samples at its own default, and would have to come upon the same 24 letters
//     each time.
//
// Both say that sampling can be held down to what is allowed, not that an answer is
// reproducible for ever, nor how a temperature between 0 and the limit is scaled.
// One that answers the same at any temperature passes: it is not hotter than is
// allowed. One that is not deterministic at 0 (batching, several replicas) fails,
// and is a matter for exempt.
const temperaturePrompt = "Invent a random sequence of 24 lower-case letters. " +
	"Do not use a pattern, a word or the alphabet's order. Answer with the sequence and nothing else."

// minTemperatureCalls is how many equal answers are no coincidence.
const minTemperatureCalls = 3

func temperatureCalls(runs int) int { return max(minTemperatureCalls, runs) }

func (s *session) probesTemperature() bool {
	_, limited := s.contract.allowedTemperature()
	return s.target.AI && limited && s.wants(PropertyTemperature)
}

func (s *session) wants(p Property) bool { return slices.Contains(s.contract.Required(), p) }

func (s *session) temperature(ctx context.Context) {
	if !s.probesTemperature() {
		if s.wants(PropertyTemperature) {
			s.prove(PropertyTemperature, false, "a provider of this type takes no temperature; exempt it with a reason")
		}
		return
	}
	allowed, _ := s.contract.allowedTemperature()
	params, err := s.contract.Params(json.RawMessage(`{"temperature":0}`))
	if err != nil {
		s.prove(PropertyTemperature, false, err.Error())
		return
	}
	input, err := rendered(temperaturePrompt, nil)
	if err != nil {
		s.prove(PropertyTemperature, false, err.Error())
		return
	}
	var contents []string
	stated := 0
	for i := range temperatureCalls(s.runs) {
		o := s.call(ctx, fmt.Sprintf("temperature %d", i+1), input, params, answered)
		if o.Kind != providers.Succeeded {
			s.unproven(PropertyTemperature, "temperature 0 was asked for", o)
			return
		}
		a := readAnswer(o.Result)
		if t, ok := echoed(a); ok {
			if t > allowed {
				s.prove(PropertyTemperature, false, fmt.Sprintf("the answer says it was made at temperature %g; %g is allowed", t, allowed))
				return
			}
			stated++
		}
		contents = append(contents, a.content)
	}
	s.judgeTemperature(allowed, contents, stated)
}

func (s *session) judgeTemperature(allowed float64, contents []string, stated int) {
	n := len(contents)
	switch {
	case stated == n:
		s.prove(PropertyTemperature, true, fmt.Sprintf("%d answers say they were made at no more than %g", n, allowed))
	case slices.ContainsFunc(contents, func(c string) bool { return strings.TrimSpace(c) == "" }):
		s.prove(PropertyTemperature, false, "an answer at temperature 0 had no content, which says nothing")
	case len(slices.Compact(slices.Clone(contents))) == 1:
		s.prove(PropertyTemperature, true, fmt.Sprintf("%d answers to a prompt left to chance are equal at temperature 0", n))
	default:
		s.prove(PropertyTemperature, false, fmt.Sprintf(
			"%d answers at temperature 0 differ: the parameter is dropped, or the provider is not deterministic", n))
		s.report.Findings = append(s.report.Findings, Finding{
			What:      "temperature",
			Violation: Violation{Assertion: "temperature", Reason: ReasonViolation, Message: "answers at temperature 0 differ"},
			Answer:    short(strings.Join(contents, " | "), maxAnswer),
		})
	}
}

// echoed is the temperature that an answer says it was made with.
func echoed(a *answer) (float64, bool) {
	response, err := object(a.members["response"])
	if err != nil {
		return 0, false
	}
	var t *float64
	if json.Unmarshal(response["temperature"], &t) != nil || t == nil {
		return 0, false
	}
	return *t, true
}

func answered(o providers.Outcome) bool { return o.Kind == providers.Succeeded }

// unproven records a property whose call did not succeed.
func (s *session) unproven(p Property, asked string, o providers.Outcome) {
	why := asked + "; " + said(o)
	if noAnswer(o) {
		s.leaveOpen(p, why)
		return
	}
	s.prove(p, false, why)
}
