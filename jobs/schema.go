package jobs

import (
	"fmt"
	"strconv"

	"onejob/lua"
)

// Schema is the newest schema of stored records that this build reads and can write.
// A record keeps the one it was submitted with; what the schemas are is in
// lua/schemas.lua, and the rule for moving on from one in docs/deploy.md, "Upgrading".
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

// newerSchema judges field v of a record; nil where it can be read.
func newerSchema(jobID, v string) error {
	if v == "" {
		return nil
	}
	if n, err := strconv.Atoi(v); err != nil || n > Schema {
		return &NewerSchema{JobID: jobID, Schema: v}
	}
	return nil
}

// WriteSchema has new jobs recorded with a schema from now on: of those this build
// knows the nearest. It starts with 1, which every release can read.
func (s *Store) WriteSchema(schema int) { s.schema.Store(int64(min(max(schema, firstSchema), Schema))) }

// schemaArgs is how submit is told the schema to write; the first needs no telling.
func (s *Store) schemaArgs() []any {
	if schema := s.schema.Load(); schema > firstSchema {
		return []any{schema}
	}
	return nil
}
