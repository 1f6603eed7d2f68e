package contracts

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a contract file.
type Problem struct {
	File    string // as given to Load or Parse
	Line    int    // counted from 1
	Path    string // where in the file: tests[1].assert[0].value
	What    string // what is wrong
	Allowed string // what would be right
}

// String is the problem in one line: file:line: path: what is wrong; what is
// allowed. Parts that are not known are left out.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", p.File, p.Line)
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

// Problems is the error of Load and Parse: all problems, in the order of the
// file.
type Problems []Problem

// Error is one line a problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// report collects problems and knows on which line each path is.
type report struct {
	file     string
	lines    map[string]int
	bad      map[string]bool // already has a problem: what follows from it is not said again
	problems Problems
}

func newReport(file string) *report {
	return &report{file: file, lines: map[string]int{"": 1}, bad: map[string]bool{}}
}

// add records a problem at a path, unless the path, or what it is in, has one.
func (r *report) add(path, what, allowed string) {
	if r.isBad(path) {
		return
	}
	r.bad[path] = true
	r.addAt(path, r.line(path), what, allowed)
}

func (r *report) addAt(path string, line int, what, allowed string) {
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Path: path, What: what, Allowed: allowed})
}

func (r *report) isBad(path string) bool {
	for p := path; p != ""; p = parent(p) {
		if r.bad[p] {
			return true
		}
	}
	return r.bad[""]
}

// anyBadIn tells whether the path, what it is in, or anything inside it has a
// problem.
func (r *report) anyBadIn(path string) bool {
	if r.isBad(path) {
		return true
	}
	for bad := range r.bad {
		if strings.HasPrefix(bad, path+".") || strings.HasPrefix(bad, path+"[") {
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

// clip keeps what is quoted in a message to one line of a bearable length.
func clip(s string) string { return fmt.Sprintf("%q", short(s, 60)) }

// short cuts s to at most n bytes.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
