package config

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// Bounds of values. Redis counts in milliseconds, so nothing is shorter; no
// duration is so long that adding a few of them overflows.
const (
	minDuration = time.Millisecond
	maxDuration = 10 * 365 * 24 * time.Hour
	maxCount    = 10000
)

// reader turns scanned nodes into values. What it cannot read is a problem, and
// the field stays zero.
type reader struct{ *scanner }

// field reads the value of one key.
type field func(path string, n *yaml.Node)

// mapping reads a mapping whose keys are known.
func (r reader) mapping(path string, n *yaml.Node, known map[string]field) {
	r.each(path, n, func(key, at string, value *yaml.Node) {
		read, ok := known[key]
		if !ok {
			r.unknownKey(path, key, slices.Sorted(maps.Keys(known)))
			return
		}
		read(at, value)
	})
}

// unknownKey also keeps the key that was probably meant from being reported as
// missing.
func (r reader) unknownKey(path, key string, known []string) {
	r.add(child(path, key), "unknown key", oneOf(key, known))
	if guess := didYouMean(key, known); guess != "" && !r.written(child(path, guess)) {
		r.bad[child(path, guess)] = true
	}
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

// scalar says whether n is a value that can be read.
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

func (r reader) text(to *string) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "text") {
			return
		}
		if _, expanded := r.raw[n]; !expanded && n.ShortTag() != "!!str" {
			r.add(path, "is "+kindOf(n), "want text: put it in quotes")
			return
		}
		if n.Value == "" {
			r.add(path, "is empty", "give it a value, or leave the key out")
			return
		}
		*to = n.Value
	}
}

func (r reader) choice(to *string, allowed ...string) field {
	return func(path string, n *yaml.Node) {
		r.text(to)(path, n)
		if *to != "" && !slices.Contains(allowed, *to) {
			r.add(path, r.shown(n)+" is not known", oneOf(*to, allowed))
		}
	}
}

func (r reader) texts(to *[]string) field {
	return func(path string, n *yaml.Node) {
		if r.isBad(path) {
			return
		}
		if n.Kind != yaml.SequenceNode {
			r.add(path, "is "+kindOf(n), "want a list: [one, two]")
			return
		}
		for i, item := range n.Content {
			var s string
			r.text(&s)(element(path, i), item)
			*to = append(*to, s) // also a bad one, so that indexes are those of the file
		}
	}
}

func (r reader) duration(to *time.Duration) field {
	const want = "a duration with a unit, such as 400ms, 10s or 72h"
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, want) {
			return
		}
		d, err := time.ParseDuration(n.Value)
		if err != nil {
			r.add(path, r.shown(n)+" is not a duration", "want "+want)
			return
		}
		if d < minDuration || d > maxDuration {
			r.add(path, r.shown(n)+" is out of range", durationRange)
			return
		}
		*to = d
	}
}

const durationRange = "want at least 1ms and at most 87600h"

func (r reader) flag(to *bool) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "true or false") {
			return
		}
		switch n.Value {
		case "true", "false":
			*to = n.Value == "true"
		default:
			r.add(path, r.shown(n)+" is neither true nor false", "want true or false")
		}
	}
}

func (r reader) count(to *int, least int) field { return r.number(to, least, maxCount) }

func (r reader) number(to *int, least, most int) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "a whole number") {
			return
		}
		i, ok := r.whole(n)
		if !ok {
			r.add(path, r.shown(n)+" is not a whole number", numberRange(least, most))
			return
		}
		if i < least || i > most {
			r.add(path, r.shown(n)+" is out of range", numberRange(least, most))
			return
		}
		*to = i
	}
}

func numberRange(least, most int) string {
	return "want a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
}

func (r reader) whole(n *yaml.Node) (int, bool) {
	var i int
	if n.ShortTag() == "!!int" {
		return i, n.Decode(&i) == nil
	}
	if _, expanded := r.raw[n]; expanded {
		i, err := strconv.Atoi(n.Value)
		return i, err == nil
	}
	return 0, false
}

// shown is the value as written: a reference, not what it stands for.
func (r reader) shown(n *yaml.Node) string {
	if raw, ok := r.raw[n]; ok {
		return clip(raw)
	}
	return clip(n.Value)
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
	return r.plain(path, n)
}

func (r reader) plain(path string, n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!str", "!!timestamp": // JSON has no times
		return n.Value
	}
	var v any
	if err := n.Decode(&v); err != nil {
		r.add(path, r.shown(n)+" cannot be read", "put text in quotes")
		return nil
	}
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		r.add(path, r.shown(n)+" is no number in JSON", "want a finite number")
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
