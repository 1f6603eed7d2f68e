package contracts

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// text makes the reader of a type that compares the content with one text.
func text(holds func(content, want string) bool) func(reader, *Assertion, string, *yaml.Node) {
	return func(r reader, a *Assertion, path string, n *yaml.Node) {
		want, ok := r.template(a, path, n)
		if !ok {
			return
		}
		base := a.base
		a.rule = func(_ context.Context, s subject) verdict {
			if holds(s.text, want.Fill(s.vars)) {
				return pass()
			}
			return fail(fmt.Sprintf("%s %s does not hold", base, clip(want.source)))
		}
	}
}

// texts makes the reader of contains-all and contains-any.
func texts(all bool) func(reader, *Assertion, string, *yaml.Node) {
	return func(r reader, a *Assertion, path string, n *yaml.Node) {
		var wants []*Template
		r.items(path, n, func(at string, item *yaml.Node) {
			if want, ok := r.template(a, at, item); ok {
				wants = append(wants, want)
			}
		})
		base := a.base
		a.rule = func(_ context.Context, s subject) verdict {
			for _, want := range wants {
				switch found := strings.Contains(s.text, want.Fill(s.vars)); {
				case found && !all:
					return pass()
				case !found && all:
					return fail(fmt.Sprintf("%s: %s is not in it", base, clip(want.source)))
				}
			}
			if all {
				return pass()
			}
			return fail(base + ": none of the texts is in it")
		}
	}
}

// template reads a value that may have variables of the test in it.
func (r reader) template(a *Assertion, path string, n *yaml.Node) (*Template, bool) {
	var source string
	r.text(&source)(path, n)
	if source == "" {
		return nil, false
	}
	t, err := ParseTemplate(source)
	if err != nil {
		r.add(path, err.Error(), "")
		return nil, false
	}
	a.names = append(a.names, t.names...)
	return t, true
}

// plain reads a text that promptfoo must not take for a template.
func (r reader) plain(path string, n *yaml.Node) string {
	var s string
	r.text(&s)(path, n)
	if opening(s) >= 0 {
		r.add(path, "has {{, {% or {# in it", "variables are not filled in here")
		return ""
	}
	return s
}

func containsFold(content, want string) bool {
	return strings.Contains(strings.ToLower(content), strings.ToLower(want))
}

// equals: text is compared as text; an object or a list as JSON.
func (r reader) equals(a *Assertion, path string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		text(func(content, want string) bool { return content == want })(r, a, path, n)
		return
	}
	want := r.data(path, n)
	a.rule = func(_ context.Context, s subject) verdict {
		got, fault := parseJSON(s.text)
		if fault != nil {
			return *fault
		}
		if equalJSON(got, want) {
			return pass()
		}
		return fail("equals: the JSON is another")
	}
}

// regex is RE2: what JavaScript has beyond it (looking around, references back) is
// refused, so that no answer can make it slow.
func (r reader) regex(a *Assertion, path string, n *yaml.Node) {
	source := r.plain(path, n)
	if source == "" {
		return
	}
	expression, err := regexp.Compile(source)
	if err != nil {
		r.add(path, "not an RE2 expression: "+err.Error(), "see https://github.com/google/re2/wiki/Syntax")
		return
	}
	a.rule = func(_ context.Context, s subject) verdict {
		if expression.MatchString(s.text) {
			return pass()
		}
		return fail("regex " + clip(source) + " does not match")
	}
}
