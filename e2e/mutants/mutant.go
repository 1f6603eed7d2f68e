package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// mutant is one rule taken out.
type mutant struct {
	name, rule string
	test       string // arguments of go test: the package, -run and what
	file       string // that is changed, from the root of the tree
	changes    []change
}

// change is whole lines of the file, and those that take their place.
type change struct{ from, to string }

func name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".patch") }

// read reads a patch and its head.
func read(file string) (*mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading a mutant: %w", err)
	}
	m := &mutant{name: name(file)}
	for line := range strings.Lines(string(text)) {
		if rule, ok := strings.CutPrefix(line, "# rule: "); ok {
			m.rule = strings.TrimSpace(rule)
		}
		if test, ok := strings.CutPrefix(line, "# test: "); ok {
			m.test = strings.TrimSpace(test)
		}
	}
	if m.rule == "" || m.test == "" {
		return nil, fmt.Errorf("%s does not begin with `# rule: …` and `# test: ./package -run Test…`", file)
	}
	files, _, err := gitdiff.Parse(strings.NewReader(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s is not a patch: %w", file, err)
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("%s changes %d files; a mutant changes one", file, len(files))
	}
	_, m.file, _ = strings.Cut(files[0].OldName, "/") // a/… or b/…
	for _, fragment := range files[0].TextFragments {
		m.changes = append(m.changes, changeOf(fragment))
	}
	return m, nil
}

func changeOf(fragment *gitdiff.TextFragment) change {
	var from, to strings.Builder
	for _, line := range fragment.Lines {
		if line.Old() {
			from.WriteString(line.Line)
		}
		if line.New() {
			to.WriteString(line.Line)
		}
	}
	return change{from.String(), to.String()}
}

// mutated is the changed file's text. Line numbers do not count, so that a patch
// fits as long as the lines it speaks of are there, and nowhere else.
func (m *mutant) mutated(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", fmt.Errorf("reading what is to be changed: %w", err)
	}
	text := "\n" + string(data)
	for _, c := range m.changes {
		from, to := "\n"+c.from, "\n"+c.to
		switch strings.Count(text, from) {
		case 0:
			return "", fmt.Errorf("the patch does not fit: %s has no lines\n%s", m.file, c.from)
		case 1:
			text = strings.Replace(text, from, to, 1)
		default:
			return "", fmt.Errorf("the patch fits in more than one place: give it more of the lines around\n%s", c.from)
		}
	}
	if text == "\n"+string(data) {
		return "", errors.New("the patch changes nothing")
	}
	return text[1:], nil
}
