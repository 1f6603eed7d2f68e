package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scanner walks a YAML document once, before anything is read from it: it notes
// where every path is, expands the environment, and refuses what would make two
// readers see two documents (duplicate keys, aliases, merge keys, own tags).
type scanner struct {
	*report
	getenv   func(string) (string, bool)
	raw      map[*yaml.Node]string // the text as written, of scalars that were expanded
	document *yaml.Node
}

var (
	yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)
	// grammarError are messages of yaml's parser, whose lines are counted from 0;
	// those of its scanner are counted from 1.
	grammarError = regexp.MustCompile(`^did not find expected (?:key|node content|',' or|'-'|<)`)
)

// decode parses the one document of the file. It returns false when there is
// nothing to go on with; an empty file is an empty mapping.
func (s *scanner) decode(data []byte) bool {
	s.lines[""] = 1
	s.document = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return true
	case err != nil:
		s.syntax(err, data)
		return false
	}
	if first.Kind == yaml.DocumentNode && len(first.Content) == 1 {
		s.document = first.Content[0]
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		s.syntax(err, data)
	default:
		s.lines[""] = second.Line
		s.add("", "a second document", "the file holds one YAML document")
	}
	return len(s.problems) == 0
}

// syntax reports what the YAML library said. Its line is where the list or
// mapping begins that is broken.
func (s *scanner) syntax(err error, data []byte) {
	what := err.Error()
	if m := yamlError.FindStringSubmatch(what); m != nil {
		what = m[2]
		if line, convErr := strconv.Atoi(m[1]); convErr == nil {
			s.lines[""] = line
			if grammarError.MatchString(what) {
				s.lines[""]++
			}
		}
	}
	allowed := "nothing after this could be read"
	if strings.HasSuffix(what, "',' or '}'") && bytes.Contains(data, []byte("${")) {
		allowed = "between { and } a ${NAME} needs quotes; " + allowed
	}
	s.add("", "not YAML: "+strings.ReplaceAll(what, "\n", " "), allowed)
}

func (s *scanner) scan(path string, n *yaml.Node) {
	switch n.Kind {
	case yaml.AliasNode:
		s.add(path, "aliases are not read", "write the value out")
	case yaml.MappingNode:
		s.mapping(path, n)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			at := element(path, i)
			s.lines[at] = item.Line
			s.scan(at, item)
		}
	case yaml.ScalarNode:
		s.expand(path, n)
		s.values[path] = n.Value
	}
	if !knownTag(n) {
		s.add(path, fmt.Sprintf("the tag %s is not known", clip(n.Tag)), "leave it out")
	}
}

// mapping keeps the first of duplicate keys.
func (s *scanner) mapping(path string, n *yaml.Node) {
	kept := make([]*yaml.Node, 0, len(n.Content))
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || key.Tag == "!!null" || key.Value == "" {
			s.addAt(path, key.Line, "a key that is not plain text", "keys are names; merge keys (<<) are not read")
			continue
		}
		at := child(path, key.Value)
		if line, twice := seen[key.Value]; twice {
			s.addAt(at, key.Line, "this key is here twice", fmt.Sprintf("keep one of it and of line %d", line))
			continue
		}
		seen[key.Value] = key.Line
		s.lines[at] = key.Line
		s.scan(at, value)
		kept = append(kept, key, value)
	}
	n.Content = kept
}

// addAt records a problem whose line is not the one noted for its path, and
// does not keep the path from being read.
func (s *scanner) addAt(path string, line int, what, allowed string) {
	s.problems = append(s.problems, Problem{File: s.file, Line: line, Path: path, What: what, Allowed: allowed})
}

// expand puts the environment into a scalar. The value stays one scalar
// whatever it contains; unquoted, it may be a number or a truth value.
func (s *scanner) expand(path string, n *yaml.Node) {
	if !strings.Contains(n.Value, "${") {
		return
	}
	e := expand(n.Value, s.getenv)
	switch {
	case e.malformed:
		s.add(path, "${ without a name and }", "write ${NAME} for a variable, $${ for the characters ${")
	case len(e.missing) > 0:
		s.add(path, "the environment has no "+strings.Join(e.missing, ", "), "set it, or write the value into the file")
	}
	s.raw[n] = n.Value
	n.Value = e.text
	if n.Style == 0 {
		switch tag := (&yaml.Node{Kind: yaml.ScalarNode, Value: e.text}).ShortTag(); tag {
		case "!!int", "!!float", "!!bool":
			n.Tag = tag
		}
	}
}

func knownTag(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		return true
	}
	return n.Kind == yaml.AliasNode
}

// clip keeps messages to one line of a bearable length.
func clip(s string) string {
	if len(s) > 60 {
		s = s[:57] + "..."
	}
	return strconv.Quote(s)
}
