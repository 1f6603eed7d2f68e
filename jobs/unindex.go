package jobs

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Unindex takes expired jobs out of the indexes, as many as DueExpire entries name;
// nothing happens to one whose record is there. It takes two round trips for all of
// them (or as many for each Cluster node): jobs expire as quickly as they once came,
// and a store that syncs its file for every one by itself would not keep up.
func (s *Store) Unindex(ctx context.Context, expired ...Due) error {
	gone, err := s.gone(ctx, expired)
	if err != nil || len(gone) == 0 {
		return err
	}
	pipe := s.rdb.Pipeline()
	for p, dues := range gone {
		ids, entries, owners := make([]any, len(dues)), make([]any, len(dues)), map[string][]any{}
		for i, d := range dues {
			ids[i], entries[i] = d.JobID, d.Kind+":"+d.JobID+":"+d.Last
			owners[d.Last] = append(owners[d.Last], d.JobID)
		}
		for _, state := range States {
			pipe.ZRem(ctx, p.state(state), ids...)
		}
		for owner, ids := range owners {
			pipe.ZRem(ctx, p.owner(owner), ids...)
		}
		pipe.ZRem(ctx, p.due(), entries...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("taking %d expired jobs out of the indexes: %w", len(expired), err)
	}
	return nil
}

// gone are those whose records are not there, by partition.
func (s *Store) gone(ctx context.Context, expired []Due) (map[partition][]Due, error) {
	pipe := s.rdb.Pipeline()
	there := make([]*redis.IntCmd, len(expired))
	for i, d := range expired {
		if p, ok := partitionOfID(d.JobID); ok {
			there[i] = pipe.Exists(ctx, partition(p).job(d.JobID))
		}
	}
	if pipe.Len() == 0 {
		return nil, nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("looking for %d expired jobs: %w", len(expired), err)
	}
	gone := map[partition][]Due{}
	for i, d := range expired {
		if there[i] != nil && there[i].Val() == 0 {
			p, _ := partitionOfID(d.JobID)
			gone[partition(p)] = append(gone[partition(p)], d)
		}
	}
	return gone, nil
}
