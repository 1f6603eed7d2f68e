package contracts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// finish classes: what providers call the end of an answer, in OpenAI's words.
const (
	finishStop    = "stop"
	finishLength  = "length"
	finishRefused = "content_filter"
	finishTools   = "tool_calls"
)

var finishClasses = map[string]string{
	"stop": finishStop, "end_turn": finishStop, "stop_sequence": finishStop, "eos": finishStop,
	"eos_token": finishStop, "complete": finishStop, "completed": finishStop,
	"length": finishLength, "max_tokens": finishLength, "max_output_tokens": finishLength, "model_length": finishLength,
	"model_context_window_exceeded": finishLength, "incomplete": finishLength, "pause_turn": finishLength,
	"content_filter": finishRefused, "refusal": finishRefused, "safety": finishRefused, "recitation": finishRefused,
	"blocklist": finishRefused, "prohibited_content": finishRefused,
	"tool_calls": finishTools, "tool_use": finishTools, "function_call": finishTools,
}

// finishClass is the class of a finish reason; empty when it is not known.
func finishClass(reason string) string { return finishClasses[strings.ToLower(reason)] }

func (r reader) finishReason(a *Assertion, path string, n *yaml.Node) {
	want := r.plain(path, n)
	if want == "" {
		return
	}
	if finishClass(want) != want {
		r.add(path, clip(want)+" is no finish reason", "known are stop, length, content_filter, tool_calls")
		return
	}
	a.rule = func(_ context.Context, s subject) verdict {
		if finishClass(s.answer.finish) == want {
			return pass()
		}
		return fail("the finish reason is not " + want)
	}
}

// cost is what the provider says in usage.cost, in its own currency. One that
// says nothing cannot be held to a bound.
func (r reader) cost(a *Assertion, _ string, _ *yaml.Node) {
	bound := a.threshold
	a.rule = func(_ context.Context, s subject) verdict {
		said, _ := s.answer.usage["cost"].(json.Number)
		cost, err := said.Float64()
		if err != nil {
			return broken("the provider does not say what it cost (usage.cost)", "")
		}
		if cost <= bound {
			return pass()
		}
		return fail(fmt.Sprintf("it cost %g, more than %g", cost, bound))
	}
}

// latency is counted from the first byte sent to the last byte received, in ms.
func (r reader) latency(a *Assertion, _ string, _ *yaml.Node) {
	bound := time.Duration(a.threshold * float64(time.Millisecond))
	a.rule = func(_ context.Context, s subject) verdict {
		if s.answer.latency == 0 {
			return broken("it is not known how long the call took", "")
		}
		if s.answer.latency <= bound {
			return pass()
		}
		return fail(fmt.Sprintf("it took %s, more than %s", s.answer.latency.Round(time.Millisecond), bound))
	}
}
