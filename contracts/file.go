package contracts

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// contract reads the keys of design §8.
func (r reader) contract(n *yaml.Node, c *Contract) {
	r.mapping("", n, map[string]field{
		"description": r.text(&c.Description),
		"prompts":     r.prompts(c),
		"options": func(path string, n *yaml.Node) {
			r.each(path, n, func(_, _ string, _ *yaml.Node) {})
			if options, ok := r.value(path, n).(map[string]any); ok {
				c.Options = options
			}
		},
		"require": r.require(c),
		"exempt":  r.exempt(c),
		"defaultTest": func(path string, n *yaml.Node) {
			r.mapping(path, n, map[string]field{"assert": r.assertions(&c.Default)})
		},
		"tests": func(path string, n *yaml.Node) {
			r.items(path, n, func(at string, item *yaml.Node) { c.Tests = append(c.Tests, r.test(at, item)) })
		},
		"rendering": r.rendering(c),
	})
}

func (r reader) prompts(c *Contract) field {
	return func(path string, n *yaml.Node) {
		r.items(path, n, func(string, *yaml.Node) {})
		if r.isBad(path) {
			return
		}
		if len(n.Content) != 1 {
			r.add(path, fmt.Sprintf("has %d prompts", len(n.Content)), "a contract is about exactly one")
			return
		}
		at, text := element(path, 0), ""
		r.text(&text)(at, n.Content[0])
		if text == "" {
			return
		}
		if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "- role:") || strings.HasPrefix(trimmed, "[") && validJSON(trimmed) {
			r.add(at, "is a list of messages", "the prompt is the text of one user message")
			return
		}
		prompt, err := ParseTemplate(text)
		if err != nil {
			r.add(at, err.Error(), "")
			return
		}
		for _, name := range prompt.names {
			if slices.Contains(reserved, name) {
				r.add(at, fmt.Sprintf("a variable cannot be called %s", name), "an input's own members have that name; choose another")
			}
		}
		c.Prompt = prompt
	}
}

// reserved are members of an input that are not variables.
var reserved = []string{"messages", "simulate"}

func (r reader) require(c *Contract) field {
	return func(path string, n *yaml.Node) {
		r.items(path, n, func(at string, item *yaml.Node) {
			if p, ok := r.property(at, item); ok {
				if slices.Contains(c.Require, p) {
					r.add(at, fmt.Sprintf("%s is here twice", p), "name each once")
				}
				c.Require = append(c.Require, p)
			}
		})
	}
}

func (r reader) property(path string, n *yaml.Node) (Property, bool) {
	var name string
	r.text(&name)(path, n)
	if name == "" {
		return "", false
	}
	if !slices.Contains(Properties(), Property(name)) {
		r.add(path, clip(name)+" is no property", "known are schema, temperature, rendering, round_trip")
		return "", false
	}
	return Property(name), true
}

func (r reader) exempt(c *Contract) field {
	return func(path string, n *yaml.Node) {
		c.Exempt = map[Property]string{}
		r.each(path, n, func(key, at string, value *yaml.Node) {
			if !slices.Contains(Properties(), Property(key)) {
				r.add(at, clip(key)+" is no property", "known are schema, temperature, rendering, round_trip")
				return
			}
			var reason string
			r.text(&reason)(at, value)
			if strings.TrimSpace(reason) == "" {
				r.add(at, "has no reason", "say in words why it need not be proven")
				return
			}
			c.Exempt[Property(key)] = reason
		})
	}
}

func (r reader) test(path string, n *yaml.Node) Test {
	t := Test{Line: r.line(path)}
	r.mapping(path, n, map[string]field{
		"description": r.text(&t.Description),
		"vars":        r.vars(&t.Vars),
		"assert":      r.assertions(&t.Assert),
	})
	return t
}

// vars reads the values of variables. promptfoo makes several tests of a list,
// and a template of text with {{; here a value is one value.
func (r reader) vars(to *map[string]any) field {
	return func(path string, n *yaml.Node) {
		vars := map[string]any{}
		r.each(path, n, func(key, at string, value *yaml.Node) {
			if !r.scalar(at, value, "text, a whole number, true or false") {
				return
			}
			switch v := r.value(at, value).(type) {
			case string:
				text, ok := r.fileOr(at, v)
				if ok && opening(text) >= 0 {
					r.add(at, "has {{, {% or {# in it", "a value is text, not a template; leave them out")
				}
				vars[key] = text
			case int:
				vars[key] = int64(v)
			case bool:
				vars[key] = v
			default:
				r.add(at, clip(value.Value)+" may be written in more than one way", "put it in quotes")
			}
		})
		*to = vars
	}
}

func (r reader) rendering(c *Contract) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"canary": r.flag(&c.Rendering.Canary),
			"prompt-tokens": func(path string, n *yaml.Node) {
				tokens := &PromptTokens{}
				r.mapping(path, n, map[string]field{
					"vars": r.vars(&tokens.Vars),
					"min":  r.count(&tokens.Min),
					"max":  r.count(&tokens.Max),
				})
				c.Rendering.PromptTokens = tokens
			},
		})
	}
}
