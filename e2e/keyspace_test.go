package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// keyspace reads everything onejob has stored, key by key; the queues are
// asynq's own. A time to live is noted as being there, not by its length.
func keyspace(ctx context.Context, t *testing.T, rdb redis.UniversalClient) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range keys(ctx, t, rdb, "oj:*") {
		if strings.HasPrefix(key, "oj:process") {
			continue // processes tell that they are there, every few seconds
		}
		kind, err := rdb.Type(ctx, key).Result()
		require.NoError(t, err)
		var value any
		switch kind {
		case "string":
			value, err = rdb.Get(ctx, key).Result()
		case "hash":
			value, err = rdb.HGetAll(ctx, key).Result()
		case "zset":
			value, err = rdb.ZRangeWithScores(ctx, key, 0, -1).Result()
		default:
			require.FailNow(t, "a key of an unknown kind", "%s: %s", key, kind)
		}
		require.NoError(t, err)
		ttl, err := rdb.PTTL(ctx, key).Result()
		require.NoError(t, err)
		all[key] = fmt.Sprintf("%v, expires: %v", value, ttl > 0)
	}
	return all
}

// keys lists the keys that match, of every master of a Cluster.
func keys(ctx context.Context, t *testing.T, rdb redis.UniversalClient, pattern string) []string {
	t.Helper()
	var mu sync.Mutex // masters are asked at once
	var all []string
	ask := func(ctx context.Context, node *redis.Client) error {
		found, err := node.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	}
	switch rdb := rdb.(type) {
	case *redis.Client:
		require.NoError(t, ask(ctx, rdb))
	case *redis.ClusterClient:
		require.NoError(t, rdb.ForEachMaster(ctx, ask))
	}
	return all
}
