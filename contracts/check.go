package contracts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// check finds what is wrong between keys that are right by themselves.
func (r reader) check(c *Contract) {
	if _, written := r.lines["prompts"]; !written {
		r.add("prompts", "missing", "say what is sent: prompts: [\"…{{variable}}…\"]")
	}
	if _, written := r.lines["tests"]; !written {
		r.add("tests", "missing", "without a test nothing can be proven")
	}
	if c.Require == nil {
		c.Require = Properties()
	}
	r.checkOptions(c)
	r.checkProperties(c)
	for i, test := range c.Tests {
		path := element("tests", i)
		if len(c.Default) == 0 && len(test.Assert) == 0 && !r.anyBadIn("defaultTest") && !r.anyBadIn(path) {
			r.add(path, "has no assertions, so it would pass whatever comes", "give it some, or some to defaultTest")
		}
		r.checkVars(child(path, "vars"), test.Vars, c.Prompt, slices.Concat(c.Default, test.Assert))
	}
	if tokens := c.Rendering.PromptTokens; tokens != nil {
		const path = "rendering.prompt-tokens"
		r.checkVars(child(path, "vars"), tokens.Vars, c.Prompt, nil)
		for name, n := range map[string]int{"min": tokens.Min, "max": tokens.Max} {
			if n == 0 {
				r.add(child(path, name), "missing", "state the range the count must be in")
			}
		}
		if tokens.Min > 0 && tokens.Max > 0 && tokens.Max < tokens.Min {
			r.add(child(path, "max"), fmt.Sprintf("%d is less than min (%d)", tokens.Max, tokens.Min), "want min ≤ max")
		}
	}
}

// ruled are options that are not the contract's to say: the model is the
// provider's, the messages are the job's, how the answer comes is the type's.
var ruled = []string{"model", "messages", "stream", "stream_options"}

func (r reader) checkOptions(c *Contract) {
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if slices.Contains(ruled, name) {
			r.add(child("options", name), name+" cannot be an option of a contract", "leave it out")
		}
	}
	if _, set := c.Options[temperature]; !set {
		return
	}
	if allowed, ok := c.allowedTemperature(); !ok || allowed < 0 {
		r.add("options.temperature", "is no number of at least 0", "want the highest temperature that is allowed")
	}
}

// checkProperties refuses a requirement that nothing in the file could prove.
func (r reader) checkProperties(c *Contract) {
	for _, p := range slices.Sorted(maps.Keys(c.Exempt)) {
		if !slices.Contains(c.Require, p) {
			r.add(child("exempt", string(p)), "is not required, so there is nothing to be exempt from", "leave it out")
		}
	}
	for _, p := range c.Required() {
		switch {
		case p == PropertyTemperature && c.Options[temperature] == nil:
			r.add("options.temperature", "missing: temperature is to be proven", "state what is allowed, or exempt: {temperature: reason}")
		case p == PropertyRendering && !c.Rendering.Canary && c.Rendering.PromptTokens == nil:
			r.add("rendering", "missing: rendering is to be proven", "want canary: true, prompt-tokens or both, or exempt: {rendering: reason}")
		}
	}
}

// checkVars: every variable has a value (nunjucks would leave a hole), and every
// value a use.
func (r reader) checkVars(path string, vars map[string]any, prompt *Template, assertions []Assertion) {
	if prompt == nil || r.isBad(path) {
		return
	}
	var missing []string
	for _, name := range prompt.names {
		if _, ok := vars[name]; !ok {
			missing = append(missing, name)
		}
	}
	used, anything := slices.Clone(prompt.names), false
	for i := range assertions {
		names, all := assertions[i].variables()
		used, anything = append(used, names...), anything || all
		for _, name := range names {
			if _, ok := vars[name]; !ok && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) > 0 {
		r.add(path, "has no "+strings.Join(missing, ", "), "give every variable a value")
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !slices.Contains(used, name) && !anything {
			r.add(child(path, name), "is not used", "no variable of the prompt or of an assertion has that name")
		}
	}
}
