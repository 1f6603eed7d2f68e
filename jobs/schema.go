package jobs

import (
	"fmt"
	"strconv"

	"onejob/lua"
)

// Schema is the newest schema of stored records that this build reads and can write.
// A record keeps the one it was submitted with; what the schemas are is in
// lua/layout.go, and the rule for moving on from one in docs/deploy.md, "Upgrading".
const Schema = lua.Schema

// firstSchema is what is written until the deployment is told otherwise: any process
// there may be can read it.
const firstSchema = 1

// NewerSchema is met where a record was written by a newer release. Nothing of it was
// read or changed. It is no Refusal: the job is there, and a newer process answers.
type NewerSchema struct {
	JobID  string
	Schema string // of the record
}

func (n *NewerSchema) Error() string {
	return fmt.Sprintf("job %s was written by a newer onejob: its record has schema %s, this process reads up to %d; "+
		"ask a process of the newer version, or upgrade this one", n.JobID, n.Schema, Schema)
}

// layoutOf is the layout that field v of a record names; a NewerSchema where this build
// has none.
func layoutOf(jobID, v string) (*lua.Layout, error) {
	if v == "" {
		return lua.LayoutOf(firstSchema), nil
	}
	n, err := strconv.Atoi(v)
	layout := lua.LayoutOf(n)
	if err != nil || layout == nil {
		return nil, &NewerSchema{JobID: jobID, Schema: v}
	}
	return layout, nil
}

// WriteSchema has new jobs recorded with a schema from now on: of those this build
// knows the nearest. It starts with 1, which every release can read.
func (s *Store) WriteSchema(schema int) { s.schema.Store(int64(min(max(schema, firstSchema), Schema))) }
