package sentinel_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/e2e/witness"
	"onejob/redistest"
)

// master is the name by which the sentinels know it.
const master = "onejob"

// server is a redis-server that can be killed and started again.
type server struct {
	t       *testing.T
	addr    string
	dir     string
	process *witness.Process
	rdb     *redis.Client
}

// servers are a master, two replicas and three sentinels.
type servers struct {
	t         *testing.T
	data      []*server
	sentinels []*server
	rdb       *redis.Client // of whoever is the master
}

func newServer(t *testing.T) *server {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	s := &server{t: t, addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), dir: t.TempDir()}
	s.rdb = redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1, DialTimeout: time.Second, ReadTimeout: time.Second})
	t.Cleanup(func() { _ = s.rdb.Close() })
	return s
}

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.addr)
	return port
}

// start starts it, again after it was killed, with what it has on disk. A master that
// has no replica left takes no writes, as docs/deploy.md has it.
func (s *server) start(flags ...string) {
	s.t.Helper()
	s.run(append([]string{
		"--port", s.port(), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "yes",
		"--appendfsync", "everysec", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", "--repl-timeout", "5",
		"--min-replicas-to-write", "1", "--min-replicas-max-lag", "3",
	}, flags...)...)
}

func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.process.Signal(sig))
}

func (s *server) run(args ...string) {
	s.t.Helper()
	s.process = witness.Run(s.t, exec.Command("redis-server", args...))
	require.NoError(s.t, redistest.Ready(s.addr), s.process.Log)
}

// sentinelConf keeps failovers apart by two timeouts.
const sentinelConf = `port %s
bind 127.0.0.1
dir %s
sentinel monitor onejob 127.0.0.1 %s 2
sentinel down-after-milliseconds onejob 1000
sentinel failover-timeout onejob 3000
sentinel parallel-syncs onejob 2
`

func startServers(t *testing.T) *servers {
	t.Helper()
	redistest.Require(t)
	s := &servers{t: t}
	for range 3 {
		s.data = append(s.data, newServer(t))
	}
	s.data[0].start()
	for _, replica := range s.data[1:] {
		replica.start("--replicaof", "127.0.0.1 "+s.data[0].port())
	}
	var addrs []string
	for range 3 {
		sentinel := newServer(t)
		conf := filepath.Join(sentinel.dir, "sentinel.conf")
		require.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, sentinelConf, sentinel.port(), sentinel.dir, s.data[0].port()), 0o600))
		sentinel.run(conf, "--sentinel")
		// Its waits are made for wide networks.
		require.NoError(t, sentinel.rdb.Do(t.Context(), "SENTINEL", "DEBUG", "info-period", "500", "ask-period", "500", "publish-period", "500",
			"ping-period", "200", "min-link-reconnect-period", "1000").Err())
		s.sentinels = append(s.sentinels, sentinel)
		addrs = append(addrs, sentinel.addr)
	}
	s.rdb = redis.NewFailoverClient(&redis.FailoverOptions{MasterName: master, SentinelAddrs: addrs, MaxRetries: 10})
	t.Cleanup(func() { _ = s.rdb.Close() })
	return s
}

// url is for onejob's configuration (docs/deploy.md).
func (s *servers) url() string {
	return fmt.Sprintf("redis://%s/0?master_name=%s&addr=%s&addr=%s", s.sentinels[0].addr, master, s.sentinels[1].addr, s.sentinels[2].addr)
}

// leader is the master, as most sentinels have it.
func (s *servers) leader(ctx context.Context) *server {
	votes := map[string]int{}
	for _, sentinel := range s.sentinels {
		addr, err := redis.NewSentinelClient(sentinel.rdb.Options()).GetMasterAddrByName(ctx, master).Result()
		if err == nil && len(addr) == 2 {
			votes[net.JoinHostPort(addr[0], addr[1])]++
		}
	}
	for _, candidate := range s.data {
		if votes[candidate.addr] > len(s.sentinels)/2 {
			return candidate
		}
	}
	return nil
}

// whole tells whether a master has both replicas in step and every sentinel knows all
// of them.
func (s *servers) whole(ctx context.Context) bool {
	leader := s.leader(ctx)
	if leader == nil {
		return false
	}
	info, err := leader.rdb.Info(ctx, "replication").Result()
	if err != nil || !strings.Contains(info, "role:master") || strings.Count(info, "state=online") != 2 {
		return false
	}
	for _, sentinel := range s.sentinels {
		info, err := sentinel.rdb.Info(ctx, "sentinel").Result()
		if err != nil || !strings.Contains(info, "status=ok,address="+leader.addr+",slaves=2,sentinels=3") {
			return false
		}
	}
	return true
}

// awaitWhole waits for that.
func (s *servers) awaitWhole(ctx context.Context) {
	s.t.Helper()
	witness.Within(ctx, s.t, 40*time.Second, "a master, two replicas in step, three sentinels", func() bool { return s.whole(ctx) })
}

// awaitFailover waits until another than old is the master and takes writes.
func (s *servers) awaitFailover(ctx context.Context, old *server) *server {
	s.t.Helper()
	var leader *server
	witness.Within(ctx, s.t, 40*time.Second, "a failover", func() bool {
		leader = s.leader(ctx)
		if leader == nil || leader == old {
			return false
		}
		return leader.rdb.Set(ctx, "failover-probe", 1, time.Second).Err() == nil
	})
	return leader
}
