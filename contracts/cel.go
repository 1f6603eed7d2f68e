package contracts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"
	"go.yaml.in/yaml/v3"
)

// Bounds of one evaluation of a rule: an answer cannot make a rule run for ever.
const (
	celCost = 5_000_000
	celTime = time.Second
)

// celEnvironment has the variables output (the parsed JSON where JSON is asked
// for, else the text), content, finish_reason, usage and vars, and CEL's string
// functions.
var celEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	anything := cel.MapType(cel.StringType, cel.DynType)
	return cel.NewEnv(
		cel.Variable("output", cel.DynType),
		cel.Variable("content", cel.StringType),
		cel.Variable("finish_reason", cel.StringType),
		cel.Variable("usage", anything),
		cel.Variable("vars", anything),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(10_000),
		cel.ParserRecursionLimit(50),
		ext.Strings(),
	)
})

// cel reads a rule in the Common Expression Language that must come out true.
func (r reader) cel(a *Assertion, path string, n *yaml.Node) {
	var source string
	r.text(&source)(path, n)
	if source == "" {
		return
	}
	program, vars, err := compileCEL(source)
	if err != nil {
		r.add(path, "not a CEL rule: "+oneLine(err.Error()), "it reads output, content, finish_reason, usage, vars and is true or false")
		return
	}
	a.anyVars = vars
	a.rule = func(ctx context.Context, s subject) verdict { return evaluate(ctx, program, source, s) }
}

// compileCEL also tells whether the rule reads vars.
func compileCEL(source string) (cel.Program, bool, error) {
	env, err := celEnvironment()
	if err != nil {
		return nil, false, err
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, false, issues.Err()
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, false, fmt.Errorf("it is a %s, not true or false", t)
	}
	program, err := env.Program(ast, cel.CostLimit(celCost), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, false, fmt.Errorf("it cannot be run: %w", err)
	}
	for _, ref := range ast.NativeRep().ReferenceMap() {
		if ref.Name == "vars" {
			return program, true, nil
		}
	}
	return program, false, nil
}

func evaluate(ctx context.Context, program cel.Program, source string, s subject) verdict {
	ctx, cancel := context.WithTimeout(ctx, celTime)
	defer cancel()
	usage, _ := native(s.answer.usage).(map[string]any)
	out, _, err := program.ContextEval(ctx, map[string]any{
		"output": native(s.answer.output()), "content": s.answer.content, "finish_reason": s.answer.finish,
		"usage": orEmpty(usage), "vars": orEmpty(s.values),
	})
	rule := "rule " + clip(source)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return broken(rule+" took too long", "")
	case err != nil:
		return broken(rule+" cannot be applied to this answer", oneLine(err.Error()))
	}
	holds, ok := out.Value().(bool)
	switch {
	case !ok:
		return broken(rule+" is neither true nor false", "")
	case !holds:
		return fail(rule + " is false")
	}
	return pass()
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func oneLine(s string) string { return short(strings.Join(strings.Fields(s), " "), 300) }
