package contracts

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const assertSet = "assert-set"

// form is one type of assertion: how its value is read, and what may stand
// beside it.
type form struct {
	value     func(r reader, a *Assertion, path string, n *yaml.Node) // n is nil when there is none
	needs     bool                                                    // a value must be there
	none      bool                                                    // a value must not be there
	threshold bool                                                    // a threshold must be there
	only      bool                                                    // not- is refused
	notes     string                                                  // what to write instead of not-
}

// forms are the types that are read: a part of promptfoo's, and cel.
func forms() map[string]form {
	return map[string]form{
		"is-json":       {value: reader.isJSON},
		"contains-json": {value: reader.containsJSON},
		"equals":        {value: reader.equals, needs: true},
		"contains":      {value: text(strings.Contains), needs: true},
		"icontains":     {value: text(containsFold), needs: true},
		"starts-with":   {value: text(strings.HasPrefix), needs: true},
		"contains-all":  {value: texts(true), needs: true},
		"contains-any":  {value: texts(false), needs: true},
		"regex":         {value: reader.regex, needs: true},
		"finish-reason": {value: reader.finishReason, needs: true},
		"is-refusal":    {value: reader.isRefusal, none: true},
		"cost":          {value: reader.cost, none: true, threshold: true, only: true, notes: "cost is an upper bound"},
		"latency":       {value: reader.latency, none: true, threshold: true, only: true, notes: "latency is an upper bound"},
		"cel":           {value: reader.cel, needs: true, only: true, notes: "write !(…)"},
		assertSet:       {only: true, none: true, notes: "put not- into the set"},
	}
}

func knownTypes() string {
	var names []string
	for name := range forms() {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (r reader) assertions(to *[]Assertion) field {
	return func(path string, n *yaml.Node) {
		r.items(path, n, func(at string, item *yaml.Node) {
			*to = append(*to, r.assertion(at, item, false, false))
		})
	}
}

// assertion reads one; weighed: it stands in a set with a threshold.
func (r reader) assertion(path string, n *yaml.Node, inSet, weighed bool) Assertion {
	a := Assertion{Path: path, Line: r.line(path), weight: 1}
	nodes := map[string]*yaml.Node{}
	take := func(at string, value *yaml.Node) { nodes[at[strings.LastIndexByte(at, '.')+1:]] = value }
	r.mapping(path, n, map[string]field{
		"type": take, "value": take, "threshold": take, "weight": take, "transform": take, "assert": take,
	})
	if r.isBad(path) {
		return a
	}
	if nodes["type"] == nil {
		r.add(child(path, "type"), "missing", "known are "+knownTypes())
		return a
	}
	r.text(&a.Type)(child(path, "type"), nodes["type"])
	a.base, a.not = strings.CutPrefix(a.Type, "not-")
	k, ok := forms()[a.base]
	switch {
	case a.Type == "" || r.isBad(child(path, "type")):
		return a
	case !ok:
		r.add(child(path, "type"), clip(a.Type)+" is not a type of assertion that is known here", "known are "+knownTypes()+", most of them also with not-")
		return a
	case a.not && k.only:
		r.add(child(path, "type"), clip(a.Type)+" is not a type of assertion", k.notes)
		return a
	}
	if written, ok := r.value(path, n).(map[string]any); ok {
		a.written = written
	}
	r.readThreshold(&a, k, nodes["threshold"])
	r.readWeight(&a, nodes["weight"], weighed)
	r.readTransform(&a, nodes["transform"])
	r.readValue(&a, k, nodes["value"])
	r.readSet(&a, nodes["assert"], inSet)
	return a
}

func (r reader) readValue(a *Assertion, k form, n *yaml.Node) {
	path := child(a.Path, "value")
	switch {
	case n == nil && k.needs:
		r.add(path, "missing", a.Type+" needs a value")
	case n != nil && k.none:
		r.add(path, a.Type+" takes no value", "leave it out")
	case k.value != nil:
		k.value(r, a, path, n)
		r.writeOut(a, n)
	}
}

// writeOut puts the content of files in the place of their names, for Export.
func (r reader) writeOut(a *Assertion, n *yaml.Node) {
	if n == nil {
		return
	}
	out := func(v any) any {
		name, _ := v.(string)
		if content, ok := r.named[strings.TrimPrefix(strings.TrimPrefix(name, fileScheme), "./")]; ok && strings.HasPrefix(name, fileScheme) {
			return content
		}
		return v
	}
	if list, ok := a.written["value"].([]any); ok && a.base != "equals" {
		for i := range list {
			list[i] = out(list[i])
		}
	}
	a.written["value"] = out(a.written["value"])
}

func (r reader) readThreshold(a *Assertion, k form, n *yaml.Node) {
	path := child(a.Path, "threshold")
	switch {
	case n == nil && k.threshold:
		r.add(path, "missing", a.Type+" needs an upper bound")
	case n == nil:
	case !k.threshold && a.base != assertSet:
		r.add(path, a.Type+" takes no threshold", "leave it out")
	default:
		r.positive(&a.threshold, "threshold")(path, n)
		if a.base == assertSet && a.threshold > 1 {
			r.add(path, "is more than 1", "want the part of the set that must hold, such as 0.5")
		}
	}
}

func (r reader) readWeight(a *Assertion, n *yaml.Node, weighed bool) {
	if n == nil {
		return
	}
	path := child(a.Path, "weight")
	r.positive(&a.weight, "weight")(path, n)
	if !weighed {
		r.add(path, "has no effect here: every assertion must hold", "weights count in an assert-set with a threshold")
	}
}

func (r reader) readSet(a *Assertion, n *yaml.Node, inSet bool) {
	path := child(a.Path, "assert")
	switch {
	case n == nil && a.base == assertSet:
		r.add(path, "missing", "an assert-set needs assertions")
	case n == nil:
	case a.base != assertSet:
		r.add(path, a.Type+" takes no assertions", "only assert-set does")
	case inSet:
		r.add(path, "an assert-set cannot be in another", "write its assertions out")
	default:
		if a.transform != nil {
			r.add(child(a.Path, "transform"), "an assert-set takes no transform", "write it to its assertions")
		}
		r.items(path, n, func(at string, item *yaml.Node) {
			a.set = append(a.set, r.assertion(at, item, true, a.threshold > 0))
		})
	}
}
