package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// keyspace reads everything onejob has stored, key by key; the queues are
// asynq's own. A time to live is noted as being there, not by its length.
func keyspace(ctx context.Context, t *testing.T, rdb *redis.Client) map[string]string {
	t.Helper()
	all := map[string]string{}
	keys, err := rdb.Keys(ctx, "oj:*").Result()
	require.NoError(t, err)
	for _, key := range keys {
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
