package config

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// later is a key, or one value of a key, whose feature is not in this release.
type later struct {
	path    string // * stands for one name
	value   string // empty: whatever its value
	feature string
}

// notYet lists what parses but is refused by name (design §8). A feature that
// arrives is one line less here.
var notYet = []later{}

// refuseNotYet refuses by name every written key that is in the table.
func (r *report) refuseNotYet(table []later) {
	for _, at := range slices.Sorted(maps.Keys(r.lines)) {
		for _, l := range table {
			if !matches(l.path, at) || l.value != "" && l.value != r.values[at] {
				continue
			}
			allowed := "take the key out"
			if l.value != "" {
				allowed = "choose another"
			}
			r.add(at, "this release does not support "+l.feature+" yet", allowed)
		}
	}
}

// matches compares path by path, * standing for one name.
func matches(pattern, at string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, ".", "/"), strings.ReplaceAll(at, ".", "/"))
	return err == nil && ok
}
