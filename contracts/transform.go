package contracts

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// transform picks one value out of a JSON answer before an assertion looks at it.
// Of promptfoo's transforms, which are programs, only paths are read.
type transform struct {
	source string // as promptfoo runs it
	steps  []any  // names (string) and places in lists (int)
}

var (
	transformPath = regexp.MustCompile(`^(?:output|JSON\.parse\(output\))((?:\.[A-Za-z_$][A-Za-z0-9_$]*|\[[0-9]{1,6}\])+)$`)
	transformStep = regexp.MustCompile(`\.([A-Za-z_$][A-Za-z0-9_$]*)|\[([0-9]+)\]`)
)

func (r reader) readTransform(a *Assertion, n *yaml.Node) {
	if n == nil {
		return
	}
	at := child(a.Path, "transform")
	var source string
	if r.scalar(at, n, "text") {
		source = strings.TrimSpace(n.Value)
	}
	if r.isBad(at) {
		return
	}
	switch a.base {
	case "cel":
		r.add(at, "cel takes no transform", "name the part in the rule: output.summary")
		return
	case "finish-reason", "cost", "latency":
		r.add(at, a.Type+" takes no transform", "it does not look at the content")
		return
	}
	parsed, err := parseTransform(source)
	if err != nil {
		r.add(at, err.Error(), "want a path, such as output.items[0].name")
		return
	}
	a.transform = parsed
}

func parseTransform(source string) (*transform, error) {
	m := transformPath.FindStringSubmatch(source)
	if m == nil {
		return nil, fmt.Errorf("%s is no path; other programs are not run", clip(source))
	}
	t := &transform{source: source}
	for _, s := range transformStep.FindAllStringSubmatch(m[1], -1) {
		if s[1] != "" {
			t.steps = append(t.steps, s[1])
			continue
		}
		i, err := strconv.Atoi(s[2])
		if err != nil {
			return nil, fmt.Errorf("%s is no place in a list", clip(s[2]))
		}
		t.steps = append(t.steps, i)
	}
	return t, nil
}

// find follows the path through the answer's JSON. Text is returned as it is,
// everything else as JSON; null is nothing, as it is to promptfoo.
func (t *transform) find(a *answer) (string, bool) {
	at, fault := a.parsed()
	if fault != nil {
		return "", false
	}
	for _, s := range t.steps {
		switch s := s.(type) {
		case string:
			members, _ := at.(map[string]any)
			next, ok := members[s]
			if !ok {
				return "", false
			}
			at = next
		case int:
			list, _ := at.([]any)
			if s >= len(list) {
				return "", false
			}
			at = list[s]
		}
	}
	switch found := at.(type) {
	case nil:
		return "", false
	case string:
		return found, true
	}
	b, err := json.Marshal(at)
	return string(b), err == nil
}
