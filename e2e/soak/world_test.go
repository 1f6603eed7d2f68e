package soak_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

// world is everything that runs: Redis, a provider, two APIs and two workers. The
// first API and the first worker are witnesses: they are never killed, so that what
// grows slowly has the whole run to grow in.
type world struct {
	t        *testing.T
	plan     plan
	dir      string
	config   string
	redis    *process
	provider *process
	apis     []*process
	workers  []*process
	victims  []*process
	at       string   // the provider's address
	callers  []string // the APIs' addresses
	rdb      *redis.Client
	http     *http.Client
	operated atomic.Int64 // live pages that were opened
	killed   map[string]int
}

func newWorld(t *testing.T, p plan) *world {
	t.Helper()
	w := &world{t: t, plan: p, dir: t.TempDir(), at: freeAddr(t), killed: map[string]int{}}
	// Connections left from a rush of callers are closed soon: each is a goroutine and a
	// file of an API, which is not to be taken for a leak.
	w.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second}}
	t.Cleanup(w.http.CloseIdleConnections)
	self, err := os.Executable()
	require.NoError(t, err)
	store := freeAddr(t)
	_, port, err := net.SplitHostPort(store)
	require.NoError(t, err)
	w.redis = w.run("redis", "", "redis-server", nil, "--port", port, "--bind", "127.0.0.1", "--dir", w.dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "")
	require.NoError(t, redistest.Ready(store))
	w.rdb = redis.NewClient(&redis.Options{Addr: store})
	t.Cleanup(func() { _ = w.rdb.Close() })
	w.provider = w.run("provider", "", self, []string{providerEnv + "=" + w.at})
	w.writeConfig(store)
	for i := range 2 {
		w.callers = append(w.callers, freeAddr(t))
		w.apis = append(w.apis, w.onejob("api", i, w.callers[i]))
		w.workers = append(w.workers, w.onejob("worker", i, freeAddr(t)))
	}
	w.victims = []*process{w.workers[1], w.apis[1], w.redis}
	for _, p := range append(w.apis, w.workers...) {
		w.ready(p)
	}
	return w
}

func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

func (w *world) writeConfig(store string) {
	w.t.Helper()
	w.config = filepath.Join(w.dir, "onejob.yaml")
	text := strings.NewReplacer("REDIS", store, "PROVIDER", w.at, "KEEP_JOB", w.plan.keepJob.String(), "KEEP_KEY", w.plan.keepKey.String()).Replace(`
redis: {url: "redis://REDIS/0", durability: fsync}
server: {admin_addr: "${SOAK_ADMIN}"}
retention: {job: KEEP_JOB, key: KEEP_KEY}
drain: 2s
lease: 3s
beat: 1s
providers:
  press: {type: http, url: "http://PROVIDER/create", timeout: 1s, deadline: 4s, concurrency: 20,
          lookup_url: "http://PROVIDER/status/{attempt}", absent_proves: true}
routes:
  print: {providers: [press], tries: 10, max_attempts: 10, backoff: {initial: 100ms, max: 1s}}
`)
	require.NoError(w.t, os.WriteFile(w.config, []byte(text), 0o600))
}

func (w *world) onejob(kind string, i int, addr string) *process {
	admin := freeAddr(w.t)
	return w.run(kind+strconv.Itoa(i), admin, program.Onejob(w.t), []string{"ONEJOB_DEV_KEYS=1", "SOAK_ADMIN=" + admin},
		kind, "--config", w.config, "--addr", addr)
}

func (w *world) run(name, admin, path string, env []string, args ...string) *process {
	w.t.Helper()
	log, err := os.OpenFile(filepath.Join(w.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	p := &process{name: name, address: admin, make: func() *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Env = append(os.Environ(), env...)
		cmd.Stdout, cmd.Stderr = log, log
		return cmd
	}}
	require.NoError(w.t, p.start())
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		_ = log.Close()
	})
	return p
}

// ready waits until a process of onejob's is.
func (w *world) ready(p *process) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		response, err := w.http.Get("http://" + p.address + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond, "%s does not get ready", p.name)
}
