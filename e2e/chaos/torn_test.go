package chaos_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// rewriteTorn does what docs/deploy.md ("A torn write") has an operator do when Redis
// found the end of its file cut off: it leaves the beginning of a transaction there, and
// would take it for part of the next one when it starts again.
func (w *world) rewriteTorn(ctx context.Context) error {
	log, err := os.ReadFile(filepath.Join(w.dir, "redis.log"))
	if err != nil {
		return fmt.Errorf("reading Redis's log: %w", err)
	}
	torn := bytes.Count(log, []byte("short read while loading the AOF"))
	if torn == w.torn {
		return nil
	}
	w.torn = torn
	w.t.Logf("a write of Redis's was torn, %d so far", torn)
	rdb := redis.NewClient(&redis.Options{Addr: w.redis.addr})
	defer func() { _ = rdb.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := rdb.BgRewriteAOF(ctx).Err(); err != nil && !strings.Contains(err.Error(), "in progress") {
		return fmt.Errorf("having Redis write its file anew: %w", err)
	}
	for rest(ctx, 50*time.Millisecond) {
		info, err := rdb.Info(ctx, "persistence").Result()
		if err == nil && strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0") {
			return nil
		}
	}
	return fmt.Errorf("Redis has not written its file anew: %w", ctx.Err())
}
