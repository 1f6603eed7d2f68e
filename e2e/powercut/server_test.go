package powercut_test

import (
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

// server is a redis-server under strace.
type server struct {
	t      *testing.T
	fsync  string // its appendfsync
	port   string
	dir    string // its files
	trace  string // what strace wrote
	strace *witness.Process
	pid    int // of redis-server
	disk   *disk
	rdb    *redis.Client
}

// needStrace skips a test where strace is missing, or fails it where
// ONEJOB_REQUIRE_STRACE asks for it.
func needStrace(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	redistest.Require(t)
	if _, err := exec.LookPath("strace"); err != nil {
		const missing = "strace is not installed (Debian: apt-get install strace)"
		require.Empty(t, os.Getenv("ONEJOB_REQUIRE_STRACE"), missing)
		t.Skip(missing)
	}
}

func newServer(t *testing.T, fsync string) *server {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	// strace names files as they are, not as links to them are.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := &server{t: t, fsync: fsync, port: strconv.Itoa(port), dir: dir, trace: filepath.Join(t.TempDir(), "trace")}
	s.rdb = redis.NewClient(&redis.Options{Addr: s.addr(), MaxRetries: 10})
	t.Cleanup(func() { _ = s.rdb.Close() })
	s.start()
	return s
}

func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// calls are those that say what is on the disk, and those that would be missed.
// sync_file_range, which redis-server uses on a big base file, promises nothing.
const calls = "openat,write,writev,pwrite64,pwritev,fsync,fdatasync,rename,renameat,renameat2,truncate,ftruncate"

// start starts the server on what is on the disk. Its append-only file is rewritten
// often, so that cuts also meet that.
func (s *server) start() {
	s.t.Helper()
	var err error
	s.disk, err = found(s.dir)
	require.NoError(s.t, err)
	s.strace = witness.Run(s.t, exec.Command("strace", "-f", "--seccomp-bpf", "-y", "-s", "0", "-e", "trace="+calls, "-e", "signal=none", "-o", s.trace,
		"redis-server", "--port", s.port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", s.fsync,
		"--auto-aof-rewrite-min-size", "512kb", "--auto-aof-rewrite-percentage", "60"))
	require.NoError(s.t, redistest.Ready(s.addr()), s.strace.Log)
	s.pid = pidOf(s.t, s.rdb)
	pid, strace := s.pid, s.strace
	s.t.Cleanup(func() {
		select {
		case <-strace.Ended():
		default:
			_ = syscall.Kill(pid, syscall.SIGKILL) // a strace that is killed lets its child go on
			<-strace.Ended()
		}
	})
}

// cutPower kills the server and leaves it what was on the disk. It returns how many
// bytes of what had been written that took.
func (s *server) cutPower() int64 {
	s.t.Helper()
	require.NoError(s.t, syscall.Kill(s.pid, syscall.SIGKILL))
	// strace ends when the last of them has, a child that rewrites the file, too, with
	// all that they did written down.
	select {
	case <-s.strace.Ended():
	case <-time.After(20 * time.Second):
		require.FailNow(s.t, "strace does not end", s.strace.Log)
	}
	trace, err := os.Open(s.trace)
	require.NoError(s.t, err)
	defer func() { _ = trace.Close() }()
	require.NoError(s.t, s.disk.follow(trace))
	lost, err := s.disk.cut()
	require.NoError(s.t, err)
	return lost
}

// pidOf asks the server for its process id: the one that was started is strace's.
func pidOf(t *testing.T, rdb *redis.Client) int {
	t.Helper()
	info, err := rdb.Info(t.Context(), "server").Result()
	require.NoError(t, err)
	_, rest, _ := strings.Cut(info, "process_id:")
	pid, err := strconv.Atoi(strings.TrimSpace(rest[:strings.IndexByte(rest, '\n')]))
	require.NoError(t, err)
	return pid
}
