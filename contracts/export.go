package contracts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// promptfooFile is the part of promptfoo's file that Export writes, in its order.
type promptfooFile struct {
	Description string           `yaml:"description,omitempty"`
	Prompts     []map[string]any `yaml:"prompts"`
	Providers   []map[string]any `yaml:"providers,omitempty"`
	DefaultTest *promptfooTest   `yaml:"defaultTest,omitempty"`
	Tests       []promptfooTest  `yaml:"tests"`
}

type promptfooTest struct {
	Description string           `yaml:"description,omitempty"`
	Vars        map[string]any   `yaml:"vars,omitempty"`
	Assert      []map[string]any `yaml:"assert,omitempty"`
}

// Export writes the contract as a file for promptfoo, with the assertions that
// both know, files written out, and the rule every answer is under here, that it
// ended whole. Comments at its head name what promptfoo does not check. Targets of
// type openai become its providers; the key is read from OPENAI_API_KEY.
func (c *Contract) Export(targets ...Target) ([]byte, error) {
	left := &leftOut{}
	file := promptfooFile{
		Description: c.Description,
		// raw: text that looks like a file's name is text all the same.
		Prompts: []map[string]any{{"raw": c.Prompt.String(), "label": "contract"}},
	}
	for _, t := range targets {
		if t.Type == "openai" {
			file.Providers = append(file.Providers, c.exportTarget(t))
		}
	}
	rules := left.export(c.Default)
	if !slices.ContainsFunc(c.Default, func(a Assertion) bool { return a.Type == "finish-reason" }) {
		rules = append([]map[string]any{{"type": "finish-reason", "value": finishStop}}, rules...)
	}
	file.DefaultTest = &promptfooTest{Assert: rules}
	for _, test := range c.Tests {
		file.Tests = append(file.Tests, promptfooTest{
			Description: test.Description, Vars: test.Vars, Assert: left.export(test.Assert),
		})
	}
	var b bytes.Buffer
	left.write(&b, c)
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(file); err != nil {
		return nil, fmt.Errorf("writing the promptfoo file: %w", err)
	}
	return b.Bytes(), nil
}

// known to promptfoo's config; what else a provider is sent goes through.
var promptfooOptions = []string{
	"temperature", "max_tokens", "max_completion_tokens", "top_p", "frequency_penalty", "presence_penalty", "seed", "stop", "response_format",
}

func (c *Contract) exportTarget(t Target) map[string]any {
	config := map[string]any{"apiBaseUrl": t.BaseURL}
	through := map[string]any{}
	for name, value := range c.options(t.Options) {
		switch {
		case slices.Contains(ruled, name):
		case slices.Contains(promptfooOptions, name):
			config[name] = value
		default:
			through[name] = value
		}
	}
	if len(through) > 0 {
		config["passthrough"] = through
	}
	return map[string]any{"id": "openai:chat:" + t.Model, "label": t.Provider, "config": config}
}

// leftOut remembers the assertions that promptfoo does not know.
type leftOut struct{ what []string }

func (l *leftOut) export(assertions []Assertion) []map[string]any {
	var out []map[string]any
	for i := range assertions {
		if a := &assertions[i]; a.promptfooKnows() {
			out = append(out, a.export())
		} else {
			l.what = append(l.what, fmt.Sprintf("%s (line %d)", a.Type, a.Line))
		}
	}
	return out
}

// promptfooKnows: no cel, no schema beyond what promptfoo's validator reads, and no
// set with one of these in it, for it would weigh otherwise without.
func (a *Assertion) promptfooKnows() bool {
	return a.base != "cel" && !a.newSchema && !slices.ContainsFunc(a.set, func(inner Assertion) bool { return !inner.promptfooKnows() })
}

func (a *Assertion) export() map[string]any {
	out := maps.Clone(a.written)
	if schema, ok := out["value"].(map[string]any); ok && strings.HasSuffix(a.base, "-json") {
		// As text, because promptfoo looks up a $ref in its own file otherwise.
		if b, err := json.Marshal(schema); err == nil && bytes.Contains(b, []byte(`"$ref"`)) {
			out["value"] = string(b)
		}
	}
	if a.transform != nil {
		_, steps, _ := strings.Cut(strings.Replace(a.transform.source, "JSON.parse(output)", "output", 1), "output")
		out["transform"] = fmt.Sprintf("(typeof output === 'string' ? JSON.parse(output) : output)%s", steps)
	}
	if len(a.set) > 0 {
		var inner []map[string]any
		for i := range a.set {
			inner = append(inner, a.set[i].export())
		}
		out["assert"] = inner
	}
	return out
}

func (l *leftOut) write(b *bytes.Buffer, c *Contract) {
	fmt.Fprintf(b, "# Made by onejob from %s.\n", printable(c.File))
	for _, p := range c.Required() {
		if p == PropertyTemperature || p == PropertyRendering {
			l.what = append(l.what, string(p))
		}
	}
	if len(l.what) > 0 {
		fmt.Fprintf(b, "# Not checked by promptfoo:\n#   %s\n", strings.Join(l.what, "\n#   "))
	}
}
