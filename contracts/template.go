package contracts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Template is text with variables, {{name}}: the part of nunjucks that has one
// meaning. It is safe for concurrent use.
type Template struct {
	source string
	parts  []part
	names  []string // of the variables, sorted, each once
}

// part is literal text or, with a name, a variable.
type part struct{ text, name string }

var variable = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*$`)

// ErrTemplate is wrapped by every error of ParseTemplate.
var ErrTemplate = errors.New("not a template of plain variables")

// ParseTemplate reads s. What else nunjucks would do with it (filters, tags,
// comments, expressions, whitespace control) is an error, so that no prompt means
// one thing here and another there.
func ParseTemplate(s string) (*Template, error) {
	t := &Template{source: s}
	for rest := s; ; {
		at := opening(rest)
		if at < 0 {
			t.parts = append(t.parts, part{text: rest})
			break
		}
		if rest[at+1] != '{' {
			return nil, fmt.Errorf("%w: %s is a tag or comment of nunjucks; only {{name}} is filled in", ErrTemplate, clip(rest[at:at+2]))
		}
		end := strings.Index(rest[at:], "}}")
		if end < 0 {
			return nil, fmt.Errorf("%w: {{ without }}", ErrTemplate)
		}
		m := variable.FindStringSubmatch(rest[at+2 : at+end])
		if m == nil {
			return nil, fmt.Errorf("%w: %s is no plain variable; want {{name}}, without filters, dots or expressions",
				ErrTemplate, clip(rest[at:at+end+2]))
		}
		t.parts = append(t.parts, part{text: rest[:at]}, part{name: m[1]})
		t.names = append(t.names, m[1])
		rest = rest[at+end+2:]
	}
	slices.Sort(t.names)
	t.names = slices.Compact(t.names)
	return t, nil
}

// opening finds the first of {{, {% and {#.
func opening(s string) int {
	for i := range len(s) - 1 {
		if s[i] == '{' && strings.IndexByte("{%#", s[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// Variables are the names of the template's variables, sorted.
func (t *Template) Variables() []string { return slices.Clone(t.names) }

// String is the template as written.
func (t *Template) String() string { return t.source }

// Fill puts values in. They are put in as they are: what looks like a variable in
// one is text. A variable without a value stays empty; callers check before.
func (t *Template) Fill(values map[string]string) string {
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.text)
		if p.name != "" {
			b.WriteString(values[p.name])
		}
	}
	return b.String()
}
