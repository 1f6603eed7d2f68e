package contracts

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

// maxFile bounds a contract and every file that it names, in bytes.
const maxFile = 1 << 20

// maxDepth bounds how deep a contract's values nest.
const maxDepth = 100

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// decode parses the one YAML document of data. It returns nil when there is
// nothing to go on with.
func (r *report) decode(data []byte) *yaml.Node {
	if len(data) > maxFile {
		r.add("", fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("want at most %d", maxFile))
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		r.add("", "the file is empty", "want a contract: prompts, defaultTest, tests")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
		return nil
	default:
		r.addAt("", second.Line, "a second document", "the file holds one YAML document")
		return nil
	}
	document := &first
	if first.Kind == yaml.DocumentNode && len(first.Content) == 1 {
		document = first.Content[0]
	}
	r.scan("", document, 0)
	return document
}

func (r *report) syntax(err error) {
	what, line := err.Error(), 1
	if m := yamlError.FindStringSubmatch(what); m != nil {
		what = m[2]
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			line = max(n, 1)
		}
	}
	r.addAt("", line, "not YAML: "+strings.ReplaceAll(what, "\n", " "), "nothing after this could be read")
}

// scan notes where every path is, and refuses what would make two readers see
// two documents: duplicate keys, aliases, merge keys, tags.
func (r *report) scan(path string, n *yaml.Node, depth int) {
	if depth > maxDepth {
		r.addAt(path, n.Line, fmt.Sprintf("nested deeper than %d", maxDepth), "make it flatter")
		n.Content = nil
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.add(path, "aliases are not read", "write the value out")
	case yaml.MappingNode:
		r.scanMapping(path, n, depth)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			at := element(path, i)
			r.lines[at] = item.Line
			r.scan(at, item, depth+1)
		}
	}
	if !knownTag(n) {
		r.add(path, fmt.Sprintf("the tag %s is not known", clip(n.Tag)), "leave it out")
	}
}

// scanMapping keeps the first of duplicate keys.
func (r *report) scanMapping(path string, n *yaml.Node, depth int) {
	kept := make([]*yaml.Node, 0, len(n.Content))
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || key.ShortTag() == "!!null" {
			r.addAt(path, key.Line, "a key that is not plain text", "keys are names; merge keys (<<) are not read")
			continue
		}
		at := child(path, key.Value)
		if line, twice := seen[key.Value]; twice {
			r.addAt(at, key.Line, "this key is here twice", fmt.Sprintf("keep one of it and of line %d", line))
			continue
		}
		seen[key.Value] = key.Line
		r.lines[at] = key.Line
		r.scan(at, value, depth+1)
		kept = append(kept, key, value)
	}
	n.Content = kept
}

func knownTag(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		return true
	}
	return n.Kind == yaml.AliasNode
}
