package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// scanBatch is how many keys or members one step of a scan asks for.
const scanBatch = 500

// keys calls each with every key of the store, on every master of a Cluster. A
// key may come twice, and keys made meanwhile may be missed (SCAN).
func (s *Store) keys(ctx context.Context, each func(key string) error) error {
	scan := func(ctx context.Context, node redis.UniversalClient) error {
		for cursor := uint64(0); ; {
			keys, next, err := node.Scan(ctx, cursor, "oj:{*", scanBatch).Result()
			if err != nil {
				return fmt.Errorf("scanning keys: %w", err)
			}
			for _, key := range keys {
				if err := each(key); err != nil {
					return err
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	cluster, ok := s.rdb.(*redis.ClusterClient)
	if !ok {
		return scan(ctx, s.rdb)
	}
	var one sync.Mutex // each is not asked to be safe for concurrent use
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		return scan(ctx, node)
	})
	if err != nil {
		return fmt.Errorf("scanning the Cluster: %w", err)
	}
	return nil
}

// EachJob calls each with the id of every stored job.
func (s *Store) EachJob(ctx context.Context, each func(id string) error) error {
	return s.keys(ctx, func(key string) error {
		if id, ok := kindOfKey(key, "job:"); ok {
			return each(id)
		}
		return nil
	})
}

// kindOfKey gives what follows kind in a key of a partition.
func kindOfKey(key, kind string) (string, bool) {
	_, rest, ok := strings.Cut(key, "}:")
	if !ok {
		return "", false
	}
	return strings.CutPrefix(rest, kind)
}

// Stray is something that speaks of a job whose record is not there.
type Stray struct {
	Key    string
	Member string // of the sorted set
	JobID  string
}

// Strays calls each with every entry of an index or due set whose job is not there. Ids
// are never used twice, so what is gone stays gone; with repair the strays are removed.
func (s *Store) Strays(ctx context.Context, repair bool, each func(Stray) error) error {
	return s.keys(ctx, func(key string) error {
		for _, kind := range []string{"state:", "owner:"} {
			if _, ok := kindOfKey(key, kind); ok {
				return s.strayMembers(ctx, key, repair, each)
			}
		}
		for _, set := range []string{"due", "webhooks"} {
			if rest, ok := kindOfKey(key, set); ok && rest == "" {
				return s.strayMembers(ctx, key, repair, each)
			}
		}
		return nil
	})
}

func (s *Store) strayMembers(ctx context.Context, key string, repair bool, each func(Stray) error) error {
	for cursor := uint64(0); ; {
		flat, next, err := s.rdb.ZScan(ctx, key, cursor, "", scanBatch).Result()
		if err != nil {
			return fmt.Errorf("scanning %s: %w", key, err)
		}
		for i := 0; i+1 < len(flat); i += 2 {
			if err := s.strayMember(ctx, key, flat[i], num(flat[i+1]), repair, each); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// sweptBy is how long the sweeper is given to deal with what expired.
const sweptBy = time.Minute

func (s *Store) strayMember(ctx context.Context, key, member string, at int64, repair bool, each func(Stray) error) error {
	id := member
	if kind, rest, ok := strings.Cut(member, ":"); ok {
		id, _, _ = strings.Cut(rest, ":")
		if (kind == DueExpire || kind == DueWebhook) && time.UnixMilli(at).After(time.Now().Add(-sweptBy)) {
			return nil // its turn comes
		}
	}
	p, ok := partitionOfID(id)
	if !ok {
		return nil
	}
	there, err := s.there(ctx, p, id)
	if err != nil || there {
		return err
	}
	if repair {
		if err := s.rdb.ZRem(ctx, key, member).Err(); err != nil {
			return fmt.Errorf("removing a stray from %s: %w", key, err)
		}
	}
	return each(Stray{Key: key, Member: member, JobID: id})
}
