package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Where the repository keeps the latest figures, seen from its root.
const (
	latestFile = "e2e/bench/latest.json"
	pageFile   = "docs/performance.md"
	chartsDir  = "docs/performance"
)

// render writes the page's tables and the charts; the page's words are written by
// hand around them.
func (r *run) render() error {
	old, err := os.ReadFile(pageFile)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	text, err := r.page(string(old))
	if err != nil {
		return err
	}
	for name, chart := range r.charts() {
		if err := writeFile(filepath.Join(chartsDir, name), []byte(chart)); err != nil {
			return err
		}
	}
	return writeFile(pageFile, []byte(text))
}

// Marks around a table: <!-- bench NAME --> and <!-- /bench -->.
const (
	markBegin = "<!-- bench "
	markEnd   = "<!-- /bench -->"
)

// page is the text with every marked table made anew.
func (r *run) page(old string) (string, error) {
	var made strings.Builder
	for {
		before, rest, found := strings.Cut(old, markBegin)
		made.WriteString(before)
		if !found {
			return made.String(), nil
		}
		name, rest, _ := strings.Cut(rest, " -->")
		_, after, closed := strings.Cut(rest, markEnd)
		table := tables[name]
		if table == nil || !closed {
			return "", fmt.Errorf("the page has a mark %q that is not known, or has no end", name)
		}
		_, _ = fmt.Fprintf(&made, "%s%s -->\n%s\n%s", markBegin, name, strings.TrimSpace(table(r)), markEnd)
		old = after
	}
}
