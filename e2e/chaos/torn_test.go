package chaos_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
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

// TestTornWrite: what docs/deploy.md says of a torn write helps. A key was being reserved
// by a transaction that Redis did not write to its end, and is reserved by another job
// after that; it is that job's when Redis has started once more.
func TestTornWrite(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	ctx := t.Context()
	w := &world{t: t, dir: t.TempDir()}
	w.startRedis()
	rdb := redis.NewClient(&redis.Options{Addr: w.redis.addr})
	t.Cleanup(func() { _ = rdb.Close() })
	require.NoError(t, rdb.Set(ctx, "before", 1, 0).Err())
	killed := func(meanwhile func()) {
		w.redis.Lock()
		defer w.redis.Unlock()
		require.NoError(t, w.redis.end(ctx, syscall.SIGKILL))
		meanwhile()
		require.NoError(t, w.redis.start())
		require.NoError(t, redistest.Ready(w.redis.addr))
	}

	killed(func() {
		w.tear("*1\r\n$5\r\nMULTI\r\n" +
			"*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$4\r\ntorn\r\n$2\r\nNX\r\n*4\r\n$4\r\nHSET\r\n$4\r\njo")
	})
	require.Zero(t, rdb.Exists(ctx, "key").Val(), "nobody was told of it")
	require.NoError(t, w.rewriteTorn(ctx))
	require.Equal(t, 1, w.torn)
	reserve := `redis.call('SET', KEYS[1], 'made', 'NX') redis.call('HSET', KEYS[2], 'small', 1)`
	require.ErrorIs(t, rdb.Eval(ctx, reserve, []string{"key", "job"}).Err(), redis.Nil) // it answers nothing

	killed(func() {})
	require.Equal(t, "made", rdb.Get(ctx, "key").Val())
	require.NoError(t, w.rewriteTorn(ctx))
	require.Equal(t, 1, w.torn, "once is enough")
}

// tear puts at the end of Redis's file what it was writing when it was killed.
func (w *world) tear(unfinished string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "appendonlydir", "*.incr.aof"))
	require.NoError(w.t, err)
	require.Len(w.t, files, 1)
	f, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(w.t, err)
	_, err = f.WriteString(unfinished)
	require.NoError(w.t, err)
	require.NoError(w.t, f.Close())
}
