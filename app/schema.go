package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"onejob/config"
	"onejob/jobs"
	"onejob/roster"
)

// schemaEvery is how soon a process records new jobs with the schema the deployment
// was told to.
const schemaEvery = 5 * time.Second

// schemaTime bounds the question which that is.
const schemaTime = 2 * time.Second

// deploymentSchema is what this process has read most recently; 0: nothing yet.
type deploymentSchema struct{ known atomic.Int64 }

// followSchema goes by the deployment's schema. One that cannot be read stays what it
// was: the store is away, and nothing is recorded either.
func (a *App) followSchema(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	schema, err := a.store.DeploymentSchema(ctx)
	if err != nil {
		a.log.DebugContext(ctx, "the deployment's schema was not read", "error", err)
		return
	}
	if int(a.schema.known.Swap(int64(schema))) == schema {
		return
	}
	a.store.WriteSchema(schema)
	if schema > jobs.Schema {
		a.log.WarnContext(ctx, "this deployment records new jobs with a schema that this process cannot read; upgrade it",
			"schema", schema, "reads", jobs.Schema)
		return
	}
	a.log.DebugContext(ctx, "new jobs are recorded with the deployment's schema", "schema", schema)
}

// notes say that this process is too old for the deployment.
func (d *deploymentSchema) notes() []string {
	schema := int(d.known.Load())
	if schema <= jobs.Schema {
		return nil
	}
	return []string{fmt.Sprintf("newer_schema: new jobs are recorded with schema %d here, this process reads up to %d "+
		"and leaves them to newer ones; upgrade it", schema, jobs.Schema)}
}

// Schemas is how far a deployment has come with the schemas of stored records.
type Schemas struct {
	// Written is what new jobs are recorded with.
	Written int `json:"written"`
	// Reads is the newest that this program reads and can write.
	Reads int `json:"reads"`
	// Stored counts the jobs by the schema of their records.
	Stored map[string]int `json:"stored"`
	// Processes are those on the roster, with the newest schema each reads.
	Processes []SchemaReader `json:"processes"`
}

// SchemaReader is a process and the newest schema it reads.
type SchemaReader struct {
	ID      string      `json:"id"`
	Kind    roster.Kind `json:"kind"`
	Host    string      `json:"host"`
	PID     int         `json:"pid"`
	Version string      `json:"version"`
	Reads   int         `json:"reads"`
}

// ExamineSchemas looks at the deployment of cfg.
func ExamineSchemas(ctx context.Context, cfg *config.Config) (s Schemas, err error) {
	err = withStore(cfg, func(store *jobs.Store, others roster.Roster) error {
		s = Schemas{Reads: jobs.Schema}
		if s.Written, err = store.DeploymentSchema(ctx); err != nil {
			return err
		}
		if s.Stored, err = store.Schemas(ctx); err != nil {
			return err
		}
		s.Processes, err = schemaReaders(ctx, others)
		return err
	})
	return s, err
}

func schemaReaders(ctx context.Context, others roster.Roster) ([]SchemaReader, error) {
	processes, err := others.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the processes: %w", err)
	}
	readers := make([]SchemaReader, 0, len(processes))
	for _, p := range processes {
		readers = append(readers, SchemaReader{
			ID: p.ID, Kind: p.Kind, Host: p.Host, PID: p.PID, Version: p.Version, Reads: max(p.Schema, 1),
		})
	}
	return readers, nil
}

// TooOld says which processes could not read what they would be given.
type TooOld struct {
	Schema    int
	Processes []SchemaReader
}

func (t *TooOld) Error() string {
	first := t.Processes[0]
	return fmt.Sprintf("%d processes cannot read schema %d, the first being %s %s on %s (pid %d), which reads up to %d: "+
		"replace them by the new version, then set it again", len(t.Processes), t.Schema, first.Kind, first.ID, first.Host, first.PID, first.Reads)
}

// SetSchema has the processes of a deployment record new jobs with a schema, within
// seconds. A TooOld says that a process that is there could not read them; a lower one
// than now is always taken, for what is stored stays readable to those it is now.
func SetSchema(ctx context.Context, cfg *config.Config, schema int) error {
	return withStore(cfg, func(store *jobs.Store, others roster.Roster) error {
		readers, err := schemaReaders(ctx, others)
		if err != nil {
			return err
		}
		old := &TooOld{Schema: schema}
		for _, r := range readers {
			if r.Reads < schema {
				old.Processes = append(old.Processes, r)
			}
		}
		if len(old.Processes) > 0 {
			return old
		}
		return store.SetDeploymentSchema(ctx, schema)
	})
}

// withStore opens the store of cfg for a while.
func withStore(cfg *config.Config, do func(*jobs.Store, roster.Roster) error) error {
	rdb, err := connection{cfg.Redis}.client()
	if err != nil {
		return err
	}
	store := jobs.NewStore(rdb, jobs.Options{KeepJob: cfg.Retention.Job, KeepKey: cfg.Retention.Key, Lease: cfg.Lease})
	return errors.Join(do(store, roster.Roster{Redis: rdb}), store.Close(), rdb.Close())
}
