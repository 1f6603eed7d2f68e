package contracts

import (
	"encoding/json"
	"maps"
	"slices"
)

// resultOrder is the order of a result's members in design §8.
var resultOrder = []string{"content", "output", "finish_reason", "usage", "model", "response"}

// inOrder lists the members of a result: those of design §8 first, then others.
func inOrder(members map[string]json.RawMessage) []string {
	names := slices.Sorted(maps.Keys(members))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

func rank(name string) int {
	if i := slices.Index(resultOrder, name); i >= 0 {
		return i
	}
	return len(resultOrder)
}
