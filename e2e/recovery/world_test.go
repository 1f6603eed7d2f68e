package recovery_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/jobs"
	"onejob/redistest"
)

// world is what one test has to itself: a store, a counting provider behind the
// names press and press2, and the processes it starts.
type world struct {
	t   *testing.T
	ctx context.Context

	rdb       *redis.Client
	redisURL  string
	store     *jobs.Store
	inspector *asynq.Inspector

	providerAddr string
	ledger       string
	config       string // the file
	api          string // the address of the API
	workerAddr   string // of the latest worker
	http         *http.Client

	jobs map[string]string // by idempotency key, as the API acknowledged them
}

// setting is what a test changes about the configuration.
type setting struct {
	viaURL      string // what processes connect to instead of the server
	lease, beat string // default 3s, 1s
	drain       string // default 4s
	retention   string // "job, key", default "1h, 2h"
	times       string // of the providers, default "timeout: 1s, deadline: 6s"
	press       string // more keys of provider press
	press2      string // and of press2
	route       string // keys of route print besides providers; default one try more
	providers   string // of route print; default press
}

func (s setting) or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// limit bounds a test's world and its long waits: a test here takes a minute at most on
// a machine of its own.
const limit = 5 * time.Minute

func newWorld(t *testing.T, s setting) *world {
	t.Helper()
	addr, db := database(t)
	return newWorldAt(t, s, addr, db)
}

// newWorldAt is newWorld on a server the test has started itself.
func newWorldAt(t *testing.T, s setting, addr string, db int) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	dir := t.TempDir()
	w := &world{
		t: t, ctx: ctx, ledger: filepath.Join(dir, "ledger"), config: filepath.Join(dir, "onejob.yaml"), jobs: map[string]string{},
		http:     &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second},
		rdb:      redis.NewClient(&redis.Options{Addr: addr, DB: db, MaxRetries: 10}),
		redisURL: fmt.Sprintf("redis://%s/%d", addr, db),
	}
	if s.viaURL != "" {
		w.redisURL = fmt.Sprintf("redis://%s/%d", s.viaURL, db)
	}
	w.store = jobs.NewStore(w.rdb, jobs.Options{Lease: 3 * time.Second})
	w.inspector = asynq.NewInspectorFromRedisClient(w.rdb)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, w.store.Close())
		_ = w.rdb.Close()
	})
	w.startProvider()
	w.writeConfig(s)
	return w
}

func (w *world) startProvider() {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), providerEnv+"="+w.ledger)
	w.providerAddr, _ = firstLine(w.t, cmd, func() *process { return start(w.t, "provider", cmd) })
}

func (w *world) writeConfig(s setting) {
	w.t.Helper()
	job, key, _ := strings.Cut(s.or(s.retention, "1h, 2h"), ", ")
	times := s.or(s.times, "timeout: 1s, deadline: 6s")
	provider := func(name, more string) string {
		more = strings.ReplaceAll(more, "PROVIDER", "http://"+w.providerAddr+"/"+name)
		return fmt.Sprintf("  %s: {type: http, url: \"http://%s/%s/create\", %s%s}\n", name, w.providerAddr, name, times, more)
	}
	text := fmt.Sprintf("redis: {url: %q}\nretention: {job: %s, key: %s}\ndrain: %s\nlease: %s\nbeat: %s\n",
		w.redisURL, job, key, s.or(s.drain, "4s"), s.or(s.lease, "3s"), s.or(s.beat, "1s")) +
		"providers:\n" + provider("press", s.press) + provider("press2", s.press2) +
		fmt.Sprintf("routes:\n  print: {providers: [%s], %s}\n", s.or(s.providers, "press"),
			s.or(s.route, "tries: 2, backoff: {initial: 100ms, max: 1s}"))
	require.NoError(w.t, os.WriteFile(w.config, []byte(text), 0o600))
}

// Ways to ask a provider.
const (
	withLookup = `, lookup_url: "PROVIDER/status/{attempt}"`
	withCancel = `, cancel_url: "PROVIDER/cancel/{attempt}"`
)

// startAPI starts an API process and makes it the one that is asked.
func (w *world) startAPI(env ...string) *process {
	w.t.Helper()
	p, addr := w.run("api", env...)
	w.api = addr
	return p
}

func (w *world) startWorker(env ...string) *process {
	w.t.Helper()
	p, addr := w.run("worker", env...)
	w.workerAddr = addr
	return p
}

// run starts `onejob <command>` and waits until it is ready.
func (w *world) run(command string, env ...string) (*process, string) {
	w.t.Helper()
	port, err := redistest.FreePort()
	require.NoError(w.t, err)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	binary := program.Onejob
	if len(env) > 0 {
		binary = program.Faulty
	}
	cmd := exec.Command(binary(w.t), command, "--config", w.config, "--addr", addr, "-v")
	cmd.Env = append(append(os.Environ(), "ONEJOB_DEV_KEYS=1"), env...)
	p := start(w.t, command, cmd)
	within(w.t, 60*time.Second, command+" is ready, or has met its fault", func() bool {
		status, _, err := w.get("http://" + addr + "/readyz")
		return err == nil && status == http.StatusOK || p.ended() || p.stopped()
	})
	return p, addr
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// faulty arms crash points in a process.
func faulty(point, what string) string { return "ONEJOB_FAULTS=" + point + "=" + what }
