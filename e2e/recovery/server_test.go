package recovery_test

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// server is a redis-server that keeps what it acknowledged: it can be killed and
// started again on the same files and port.
type server struct {
	t    *testing.T
	dir  string
	port int
	*process
}

func newServer(t *testing.T) *server {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	s := &server{t: t, dir: t.TempDir(), port: port}
	s.start()
	return s
}

// start starts the server, and again after it was killed.
func (s *server) start() {
	s.t.Helper()
	s.process = start(s.t, "redis-server", exec.Command("redis-server", "--port", strconv.Itoa(s.port), "--bind", "127.0.0.1",
		"--dir", s.dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--databases", strconv.Itoa(databases)))
	require.NoError(s.t, redistest.Ready(s.addr()))
}

func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *server) client(db int) *redis.Client {
	rdb := redis.NewClient(&redis.Options{Addr: s.addr(), DB: db})
	s.t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// databases is how many worlds a server has room for.
const databases = 512

// common is a server that tests share which leave it alone; each has a database
// of its own. It ends with this process.
var common struct {
	once sync.Once
	addr string
	err  error
	life *os.File
	next atomic.Int64
}

// database gives a test a database on the common server.
func database(t *testing.T) (addr string, db int) {
	t.Helper()
	common.once.Do(startCommon)
	require.NoError(t, common.err)
	db = int(common.next.Add(1))
	require.Less(t, db, databases)
	return common.addr, db
}

// startCommon starts a server as the child of a shell that waits for our end of
// a pipe to close.
func startCommon() {
	port, err := redistest.FreePort()
	if err != nil {
		common.err = err
		return
	}
	dir, err := os.MkdirTemp("", "onejob-e2e-redis-")
	if err != nil {
		common.err = err
		return
	}
	script := "redis-server --port " + strconv.Itoa(port) + " --bind 127.0.0.1 --dir '" + dir + "' --save '' --appendonly yes " +
		"--appendfsync always --databases " + strconv.Itoa(databases) + " >/dev/null & pid=$!; cat >/dev/null; kill -9 $pid; rm -rf '" + dir + "'"
	reading, writing, err := os.Pipe()
	if err != nil {
		common.err = err
		return
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdin = reading
	if common.err = cmd.Start(); common.err != nil {
		return
	}
	_ = reading.Close()
	common.life = writing
	common.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	common.err = redistest.Ready(common.addr)
}
