package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// metaKey holds what is true of the whole deployment.
const (
	metaKey    = "oj:meta"
	metaSchema = "schema" // that new jobs are recorded with; missing: the first
)

// DeploymentSchema is the schema that all processes are to record new jobs with: what
// the oldest of them can read, until SetDeploymentSchema says otherwise.
func (s *Store) DeploymentSchema(ctx context.Context) (int, error) {
	stored, err := s.rdb.HGet(ctx, metaKey, metaSchema).Result()
	if errors.Is(err, redis.Nil) {
		return firstSchema, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the deployment's schema: %w", err)
	}
	schema, err := strconv.Atoi(stored)
	if err != nil || schema < firstSchema {
		return 0, fmt.Errorf("the deployment's schema, field %s of %s, is %q and no number of a schema; set it with onejob schema set",
			metaSchema, metaKey, stored)
	}
	return schema, nil
}

// SetDeploymentSchema is what processes go by within seconds. Whether all of them can
// read it the caller has looked.
func (s *Store) SetDeploymentSchema(ctx context.Context, schema int) error {
	if schema < firstSchema || schema > Schema {
		return fmt.Errorf("this onejob knows the schemas %d to %d, not %d", firstSchema, Schema, schema)
	}
	if err := s.rdb.HSet(ctx, metaKey, metaSchema, schema).Err(); err != nil {
		return fmt.Errorf("setting the deployment's schema: %w", err)
	}
	return nil
}

// Schemas counts the stored jobs by the schema of their records, also of those that
// are newer. It looks at every record.
func (s *Store) Schemas(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	var batch []string
	count := func() error {
		pipe := s.rdb.Pipeline()
		versions := make([]*redis.SliceCmd, len(batch))
		for i, id := range batch {
			p, _ := partitionOfID(id)
			versions[i] = pipe.HMGet(ctx, partition(p).job(id), "v")
		}
		batch = batch[:0]
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("reading the schemas of records: %w", err)
		}
		for _, version := range versions {
			schema, _ := version.Val()[0].(string)
			if schema == "" {
				schema = strconv.Itoa(firstSchema)
			}
			counts[schema]++
		}
		return nil
	}
	err := s.EachJob(ctx, func(id string) error {
		if _, ok := partitionOfID(id); !ok {
			return nil
		}
		if batch = append(batch, id); len(batch) < scanBatch {
			return nil
		}
		return count()
	})
	if err == nil && len(batch) > 0 {
		err = count()
	}
	return counts, err
}
