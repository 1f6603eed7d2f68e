package hostile

import (
	"slices"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"onejob/api"
)

// operation is one call of the description.
type operation struct {
	name, method, path string
	params             []*openapi3.Parameter
	body               *openapi3.Schema // nil: none
	statuses           map[int]bool
	open               bool // needs no credentials
}

// operations are all calls of the description, in the order of their names.
func operations(t *testing.T) []*operation {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Description)
	require.NoError(t, err)
	var all []*operation
	for path, item := range doc.Paths.Map() {
		for method, described := range item.Operations() {
			o := &operation{name: described.OperationID, method: method, path: path, statuses: map[int]bool{}}
			for _, p := range slices.Concat(item.Parameters, described.Parameters) {
				o.params = append(o.params, p.Value)
			}
			if described.RequestBody != nil {
				o.body = described.RequestBody.Value.Content["application/json"].Schema.Value
			}
			for status := range described.Responses.Map() {
				code, err := strconv.Atoi(status)
				require.NoError(t, err)
				o.statuses[code] = true
			}
			o.open = described.Security != nil && len(*described.Security) == 0
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *operation) int { return compare(a.name, b.name) })
	return all
}

func compare(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// problemNames are the problems of the description.
func problemNames(t *testing.T) map[string]bool {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Description)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, name := range doc.Components.Schemas["ProblemName"].Value.Enum {
		names[name.(string)] = true
	}
	return names
}
