package contracts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// data reads a value as JSON, with the types jsonschema compares.
func (r reader) data(path string, n *yaml.Node) any {
	value := r.value(path, n)
	if r.anyBadIn(path) {
		return nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		r.add(path, "cannot be written as JSON", "")
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		r.add(path, "cannot be read as JSON", "")
	}
	return v
}

// schema reads a JSON Schema: a mapping, or file:// with one in JSON or YAML. nil
// when there is none.
func (r reader) schema(path string, n *yaml.Node) *schema {
	if n == nil || r.isBad(path) {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		if n = r.schemaFile(path, n); n == nil {
			return nil
		}
	}
	if n.Kind != yaml.MappingNode {
		r.add(path, "is "+kindOf(n), "want a JSON Schema, as a mapping or as file://name")
		return nil
	}
	document := r.data(path, n)
	if document == nil {
		return nil
	}
	if at, word := unknownKeyword(document, ""); word != "" {
		r.add(path, fmt.Sprintf("%s is no keyword of JSON Schema (at %s), so it would check nothing", clip(word), at), "see https://json-schema.org")
		return nil
	}
	compiled, err := compileSchema(document)
	if err != nil {
		r.add(path, "not a JSON Schema: "+oneLine(err.Error()), "only references inside it (#/$defs/…) are followed")
		return nil
	}
	return &schema{compiled: compiled, names: propertyNames(document), young: hasYoung(document)}
}

func (r reader) schemaFile(path string, n *yaml.Node) *yaml.Node {
	if n.ShortTag() != "!!str" || !strings.HasPrefix(n.Value, fileScheme) {
		r.add(path, "is "+kindOf(n), "want a JSON Schema, as a mapping or as file://name")
		return nil
	}
	content, ok := r.fileOr(path, n.Value)
	if !ok {
		return nil
	}
	// The file's own problems are reported at the line that names it.
	inner := newReport(n.Value)
	document := inner.decode([]byte(content))
	if err := inner.err(); err != nil {
		r.add(path, oneLine(err.Error()), "")
		return nil
	}
	return document
}

// offline refuses to load anything: a contract means the same everywhere.
type offline struct{}

var errOffline = errors.New("other documents are not loaded")

func (offline) Load(string) (any, error) { return nil, errOffline }

const schemaURL = "contract:///schema.json"

func compileSchema(document any) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(offline{})
	compiler.AssertFormat()
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return nil, fmt.Errorf("reading it: %w", err)
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return nil, fmt.Errorf("compiling it: %w", err)
	}
	return compiled, nil
}

func (r reader) isJSON(a *Assertion, path string, n *yaml.Node) {
	schema := r.schema(path, n)
	a.newSchema = schema != nil && schema.young
	a.rule = func(_ context.Context, s subject) verdict {
		var v any
		var fault *verdict
		if a := s.answer; s.text == a.content {
			v, fault = a.parsed()
		} else {
			v, fault = parseJSON(s.text)
		}
		if fault != nil {
			return *fault
		}
		return schema.holds(v)
	}
}

// containsJSON: one of the JSON objects in the text satisfies the schema. Each is
// taken as it stands; nothing is repaired.
func (r reader) containsJSON(a *Assertion, path string, n *yaml.Node) {
	schema := r.schema(path, n)
	a.newSchema = schema != nil && schema.young
	a.rule = func(_ context.Context, s subject) verdict {
		last := fail("there is no JSON object in the answer")
		for _, v := range objectsIn(s.text) {
			if last = schema.holds(v); last.ok {
				return pass()
			}
		}
		return last
	}
}
