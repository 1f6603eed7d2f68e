package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// tables are the tables of the document, each between the markers that name it.
func tables(m *measured, c costs) (string, error) {
	var text strings.Builder
	for _, one := range []struct {
		name string
		body string
	}{
		{"constants", constantsTable(m, c)},
		{"checked", checkedTable(m)},
		{"simulated", simulatedTable(c)},
		{"first", firstTable(c)},
		{"passing", passingTable(c)},
		{"sized", sizedTable(c)},
		{"memory", memoryTable(c)},
	} {
		text.WriteString(opening(one.name) + "\n" + one.body + closing(one.name) + "\n\n")
	}
	return text.String(), nil
}

func opening(name string) string { return "<!-- scale: " + name + " -->" }
func closing(name string) string { return "<!-- end of " + name + " -->" }

// rewrite puts each table of text where the document has its markers.
func rewrite(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	document, err := replaced(string(old), text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(document), 0o644); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}

func replaced(document, text string) (string, error) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "<!-- scale: ")
		if !found {
			return document, nil
		}
		name, _, _ := strings.Cut(after, " -->")
		body, next, _ := strings.Cut(after, closing(name))
		before, behind, opened := strings.Cut(document, opening(name))
		_, behind, closed := strings.Cut(behind, closing(name))
		if !opened || !closed {
			return "", fmt.Errorf("it has no markers %s and %s", opening(name), closing(name))
		}
		document = before + "<!-- scale: " + body + closing(name) + behind
		rest = next
	}
}

// table is Markdown that grows.
type table struct{ strings.Builder }

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

func (t *table) head(cells ...string) {
	t.row(cells...)
	t.row(strings.Split(strings.Repeat("---,", len(cells)-1)+"---", ",")...)
}

// round is a number with as many digits as there is reason to believe in.
func round(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) < 1:
		return fmt.Sprintf("%.2g", v)
	case math.Abs(v) < 10:
		return fmt.Sprintf("%.1f", v)
	case math.Abs(v) < 1000:
		return fmt.Sprintf("%.0f", v)
	}
	digits := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-1)
	return thousands(int64(math.Round(v/digits) * digits))
}

func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

func millis(seconds float64) string { return round(1000*seconds) + " ms" }

func bytesOf(v float64) string {
	for _, unit := range []string{"B", "KB", "MB", "GB", "TB", "PB"} {
		if v < 1000 {
			return round(v) + " " + unit
		}
		v /= 1000
	}
	return round(v) + " EB"
}
