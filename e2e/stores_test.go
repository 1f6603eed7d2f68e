package e2e

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"onejob/redistest"
)

// eachStore runs a test on a miniredis that many processes share, on a real
// redis-server, and on a Redis Cluster. A process asks its Redis about itself at boot;
// miniredis has nothing to say there, so it is told.
func eachStore(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		m := miniredis.RunT(t)
		m.ClockTTL(true)
		m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
			if strings.EqualFold(command, "INFO") {
				peer.WriteBulk(aboutMiniredis)
				return true
			}
			return false
		})
		rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
		t.Cleanup(func() { _ = rdb.Close() })
		test(t, rdb)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, redistest.Real(t))
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		test(t, redistest.Cluster(t))
	})
}

const aboutMiniredis = "# Server\r\nredis_version:7.2.0\r\nredis_mode:standalone\r\n" +
	"run_id:0000000000000000000000000000000000000001\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:0\r\n"
