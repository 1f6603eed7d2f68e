package contracts

import (
	"context"
	"slices"
)

// Assertion is one thing that must hold of an answer.
type Assertion struct {
	Type string // as written: is-json, not-contains
	Path string // where in the file: defaultTest.assert[0]
	Line int

	base      string  // the type without not-
	not       bool    // what the type says must not hold
	weight    float64 // in an assert-set with a threshold
	threshold float64 // 0: none stated
	transform *transform
	rule      rule
	set       []Assertion // of an assert-set
	names     []string    // variables of its value
	anyVars   bool        // a cel rule that reads vars
	newSchema bool        // has keywords of JSON Schema that are younger than draft-07
	written   map[string]any
}

// rule decides about an answer, after the transform.
type rule func(ctx context.Context, s subject) verdict

// subject is what a rule looks at.
type subject struct {
	answer *answer
	text   string            // the content or, after a transform, what it found
	vars   map[string]string // of the test, as text
	values map[string]any    // of the test, as written
}

// verdict is what a rule decided. Its why says nothing of the answer, because it
// is kept with the attempt; its detail may, and is shown by verify only.
type verdict struct {
	ok     bool
	broken bool   // the rule could not be applied: not- does not turn that around
	reason string // empty: ReasonViolation
	why    string
	detail string
}

func pass() verdict { return verdict{ok: true} }

func fail(why string) verdict { return verdict{why: why} }

// broken is the verdict of a rule that could not be applied.
func broken(why, detail string) verdict { return verdict{broken: true, why: why, detail: detail} }

// variables are the names its value, or that of one in its set, is filled in
// with; all: it may read any.
func (a *Assertion) variables() (names []string, all bool) {
	names, all = slices.Clone(a.names), a.anyVars
	for i := range a.set {
		inner, some := a.set[i].variables()
		names, all = append(names, inner...), all || some
	}
	return names, all
}

// needsVars tells whether it can only be judged where the variables of the prompt
// are known.
func (a *Assertion) needsVars() bool {
	names, all := a.variables()
	return all || len(names) > 0
}

// ofTheCall tells whether it is about how the call went, not about its answer. A
// good answer is not thrown away because it was slow or dear: these are for
// verify.
func (a *Assertion) ofTheCall() bool {
	return a.base == "cost" || a.base == "latency" || slices.ContainsFunc(a.set, func(inner Assertion) bool { return inner.ofTheCall() })
}

// judge applies the assertion.
func (a *Assertion) judge(ctx context.Context, s subject) verdict {
	if a.base == assertSet {
		return a.judgeSet(ctx, s)
	}
	if a.transform != nil {
		found, ok := a.transform.find(s.answer)
		if !ok {
			return broken("transform "+a.transform.source+" finds nothing", "")
		}
		s.text = found
	}
	v := a.rule(ctx, s)
	if !a.not || v.broken {
		return v
	}
	if v.ok {
		return fail("it must not, and does: " + a.base)
	}
	return pass()
}

// judgeSet: without a threshold all must hold; with one, the weighted part that
// holds must reach it.
func (a *Assertion) judgeSet(ctx context.Context, s subject) verdict {
	var held, total float64
	var first *verdict
	for i := range a.set {
		inner := &a.set[i]
		total += inner.weight
		v := inner.judge(ctx, s)
		switch {
		case v.ok:
			held += inner.weight
		case first == nil:
			v.why = inner.Type + ": " + v.why
			first = &v
		}
	}
	if first == nil || a.threshold > 0 && held/total >= a.threshold {
		return pass()
	}
	return *first
}
