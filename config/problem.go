package config

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration. It never holds the
// value of an environment variable, nor of a key that may be secret.
type Problem struct {
	File    string // as given to Load or Parse; empty for a Config built in code
	Line    int    // counted from 1; 0 when the place is not known
	Path    string // where in the file: providers.inkjet.timeout, routes.print.providers[1]
	What    string // what is wrong
	Allowed string // what would be right
}

// String is the problem in one line: file:line: path: what is wrong; what is
// allowed. Parts that are not known are left out.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:", p.Line)
		}
		b.WriteString(" ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.What)
	if p.Allowed != "" {
		b.WriteString("; " + p.Allowed)
	}
	return b.String()
}

// Problems is the error of Load, Parse and Validate: all problems, in the order
// of the file.
type Problems []Problem

// Error is one line a problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// report collects problems and knows where in the file each path is.
type report struct {
	file     string
	lines    map[string]int    // where each path is written
	values   map[string]string // the scalar written there, expanded
	outside  map[string]bool   // given by an option, not by the file
	bad      map[string]bool   // already has a problem: what follows from it is not said again
	problems Problems
}

func newReport(file string) *report {
	return &report{
		file:    file,
		lines:   map[string]int{},
		values:  map[string]string{},
		outside: map[string]bool{},
		bad:     map[string]bool{},
	}
}

// add records a problem at a path, unless the path, or one of the paths the
// problem also rests on, has one already.
func (r *report) add(path, what, allowed string, restsOn ...string) {
	if r.isBad(path) || slices.ContainsFunc(restsOn, r.isBad) {
		return
	}
	r.bad[path] = true
	p := Problem{Path: path, What: what, Allowed: allowed}
	if !r.outside[path] {
		p.File, p.Line = r.file, r.line(path)
	}
	r.problems = append(r.problems, p)
}

// isBad tells whether the path, or what it is in, has a problem.
func (r *report) isBad(path string) bool {
	for p := path; p != ""; p = parent(p) {
		if r.bad[p] {
			return true
		}
	}
	return false
}

// line is where the path is written or, if it is not, what it would be in.
func (r *report) line(path string) int {
	for p := path; p != ""; p = parent(p) {
		if line, ok := r.lines[p]; ok {
			return line
		}
	}
	return r.lines[""]
}

func (r *report) written(path string) bool {
	_, ok := r.lines[path]
	return ok
}

// err returns all problems as one error, or nil.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
	return r.problems
}

func child(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}
