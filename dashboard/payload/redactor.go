package payload

import (
	"fmt"
	"slices"
	"strings"
)

// Roots are the parts of a job that are shown as payloads. A path to redact begins
// with one of them, or with *.
var Roots = []string{"input", "params", "metadata", "result", "evidence", "error", "usage"}

// Redactor knows what is not to be shown. The zero value, and nil, redact nothing.
type Redactor struct{ patterns [][]string }

// NewRedactor reads paths of names separated by dots, such as input.card.number. *
// stands for one or more names, so that *.password is that name at any depth.
// Elements of arrays need not be named, and can be, by number or *. Case does not
// matter. A path covers all that is beneath it. The error names the path.
func NewRedactor(paths []string) (*Redactor, error) {
	r := &Redactor{}
	for _, path := range paths {
		names := strings.Split(path, ".")
		if slices.Contains(names, "") {
			return nil, fmt.Errorf("%q is not a path: want names separated by single dots, such as input.card.number or *.password", path)
		}
		if root := names[0]; root != "*" && !slices.Contains(Roots, root) {
			return nil, fmt.Errorf("%q begins with %q: want one of %s, or *", path, root, strings.Join(Roots, ", "))
		}
		r.patterns = append(r.patterns, names)
	}
	return r, nil
}

// step is one name on the way to a value, or the number of an element.
type step struct {
	name  string
	index bool
}

// covers tells whether the value at the end of the way is not to be shown.
func (r *Redactor) covers(way []step) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc(r.patterns, func(p []string) bool { return match(p, way) })
}

// may tells whether anything beneath root could be redacted.
func (r *Redactor) may(root string) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc(r.patterns, func(p []string) bool { return p[0] == "*" || strings.EqualFold(p[0], root) })
}

// match goes the way with every place in the pattern it may have come to, at once:
// trying one after the other would cost a caller's nesting to the power of the
// pattern's stars.
func match(pattern []string, way []step) bool {
	at := make([]bool, len(pattern)+1) // so many names of the pattern are behind
	at[0] = true
	for _, s := range way {
		next := make([]bool, len(at))
		for i, here := range at {
			if !here {
				continue
			}
			if s.index || i > 0 && pattern[i-1] == "*" {
				next[i] = true // elements need not be named; a star takes more
			}
			if i < len(pattern) && (pattern[i] == "*" || strings.EqualFold(pattern[i], s.name)) {
				next[i+1] = true
			}
		}
		at = next
	}
	return at[len(pattern)]
}
