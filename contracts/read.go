package contracts

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader turns scanned nodes into values. What it cannot read is a problem, and
// the field stays zero.
type reader struct {
	*report
	files fs.FS             // what file:// names are looked up in; nil has none
	named map[string]string // content of every file that was named: part of the contract's hash
}

// field reads the value of one key.
type field func(path string, n *yaml.Node)

// mapping reads a mapping whose keys are known.
func (r reader) mapping(path string, n *yaml.Node, known map[string]field) {
	r.each(path, n, func(key, at string, value *yaml.Node) {
		read, ok := known[key]
		if !ok {
			r.add(at, "unknown key", "known are "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			return
		}
		read(at, value)
	})
}

// each visits the entries of a mapping in the order of the file.
func (r reader) each(path string, n *yaml.Node, visit func(key, at string, value *yaml.Node)) {
	if r.isBad(path) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.add(path, "is "+kindOf(n), "want a mapping")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		visit(key, child(path, key), n.Content[i+1])
	}
}

// items visits the entries of a list that must have some.
func (r reader) items(path string, n *yaml.Node, visit func(at string, item *yaml.Node)) {
	switch {
	case r.isBad(path):
	case n.Kind != yaml.SequenceNode:
		r.add(path, "is "+kindOf(n), "want a list")
	case len(n.Content) == 0:
		r.add(path, "is an empty list, which would pass whatever comes", "give it entries, or leave the key out")
	default:
		for i, item := range n.Content {
			visit(element(path, i), item)
		}
	}
}

// text reads text; file://name stands for the content of that file.
func (r reader) text(to *string) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "text") {
			return
		}
		if n.ShortTag() != "!!str" {
			r.add(path, "is "+kindOf(n), "want text: put it in quotes")
			return
		}
		if n.Value == "" {
			r.add(path, "is empty", "give it a value, or leave the key out")
			return
		}
		if text, ok := r.fileOr(path, n.Value); ok {
			*to = text
		}
	}
}

func (r reader) scalar(path string, n *yaml.Node, want string) bool {
	if r.isBad(path) {
		return false
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		r.add(path, "is "+kindOf(n), "want "+want)
		return false
	}
	return true
}

func (r reader) flag(to *bool) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "true or false") {
			return
		}
		if n.ShortTag() != "!!bool" || n.Decode(to) != nil {
			r.add(path, clip(n.Value)+" is neither true nor false", "want true or false")
		}
	}
}

// positive reads a number above zero. promptfoo takes a weight or threshold of
// zero for one that is met by anything.
func (r reader) positive(to *float64, what string) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "a number") {
			return
		}
		var f float64
		if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || n.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			r.add(path, clip(n.Value)+" is no number", "want a number above 0")
			return
		}
		if f <= 0 {
			r.add(path, fmt.Sprintf("a %s of %s is met by anything or by nothing", what, n.Value), "want a number above 0")
			return
		}
		*to = f
	}
}

func (r reader) count(to *int) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "a whole number") {
			return
		}
		var i int
		if n.ShortTag() != "!!int" || n.Decode(&i) != nil || i < 1 || i > 1_000_000 {
			r.add(path, clip(n.Value)+" is out of range", "want a whole number from 1 to 1000000")
			return
		}
		*to = i
	}
}

// value reads anything JSON can say.
func (r reader) value(path string, n *yaml.Node) any {
	if r.isBad(path) {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		r.each(path, n, func(key, at string, v *yaml.Node) { object[key] = r.value(at, v) })
		return object
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = r.value(element(path, i), item)
		}
		return list
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!str", "!!timestamp": // JSON has no times
		return n.Value
	}
	var v any
	if err := n.Decode(&v); err != nil {
		r.add(path, clip(n.Value)+" cannot be read", "put text in quotes")
		return nil
	}
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		r.add(path, clip(n.Value)+" is no number in JSON", "want a finite number")
		return nil
	}
	return v
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a truth value"
	case "!!timestamp":
		return "a date"
	}
	return "text"
}
