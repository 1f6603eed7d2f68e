package config

import (
	"regexp"
	"strings"
)

// reference is a literal dollar ($${ stands for ${), or a reference to the
// environment, or the start of one that is malformed.
var reference = regexp.MustCompile(`\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?`)

// expansion is what became of one scalar with references in it.
type expansion struct {
	text      string
	missing   []string // names the environment does not have
	malformed bool     // a ${ without a name and a closing brace
}

// expand replaces every ${NAME} by the variable's value. The value is taken as
// it is: what looks like a reference in it is not expanded again.
func expand(s string, getenv func(string) (string, bool)) expansion {
	var e expansion
	e.text = reference.ReplaceAllStringFunc(s, func(match string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(match, "${"), "}")
		if match == "$${" {
			return "${"
		}
		if name == "" {
			e.malformed = true
			return match
		}
		value, ok := getenv(name)
		if !ok {
			e.missing = append(e.missing, name)
		}
		return value
	})
	return e
}
