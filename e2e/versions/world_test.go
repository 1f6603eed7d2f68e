package versions_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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

	"onejob/auth"
	"onejob/e2e/program"
	"onejob/jobs"
	"onejob/redistest"
)

// world is a store, a provider that counts, and processes of two versions.
type world struct {
	t      *testing.T
	ctx    context.Context
	rdb    *redis.Client
	store  *jobs.Store
	config string
	ledger string
	http   *http.Client
}

// limit bounds the whole test.
const limit = 8 * time.Minute

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Getenv("ONEJOB_VERSIONS") == "" {
		t.Skip("takes minutes, and builds a second version: make versions")
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	dir := t.TempDir()
	w := &world{
		t: t, ctx: ctx, rdb: redistest.Real(t), ledger: filepath.Join(dir, "ledger"), config: filepath.Join(dir, "onejob.yaml"),
		http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second},
	}
	w.store = jobs.NewStore(w.rdb, jobs.Options{})
	t.Cleanup(func() { _ = w.store.Close() })
	options := w.rdb.Options()
	text := fmt.Sprintf("redis: {url: \"redis://%s/%d\"}\ndrain: 20s\nlease: 15s\n", options.Addr, options.DB) +
		fmt.Sprintf("providers:\n  press: {type: http, url: \"http://%s/\", timeout: 20s, deadline: 60s}\n", w.startProvider()) +
		"routes:\n  print: {providers: [press]}\n"
	w.must(os.WriteFile(w.config, []byte(text), 0o600))
	return w
}

func (w *world) must(err error) { w.t.Helper(); require.NoError(w.t, err) }

func (w *world) startProvider() string {
	w.t.Helper()
	self, err := os.Executable()
	w.must(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), providerEnv+"="+w.ledger)
	said, err := cmd.StdoutPipe()
	w.must(err)
	w.start("provider", cmd)
	addr, err := bufio.NewReader(said).ReadString('\n')
	w.must(err)
	return addr[:len(addr)-1]
}

// version is a release: its program.
type version struct {
	name   string
	binary func(testing.TB) string
}

var (
	older = version{"older", program.Onejob}
	newer = version{"newer", program.Next}
)

// process is one that the test started; it ends with the test.
type process struct {
	name string
	addr string
	cmd  *exec.Cmd
	log  string // the file with what it said
	done chan struct{}
}

func (w *world) start(name string, cmd *exec.Cmd) *process {
	w.t.Helper()
	p := &process{name: name, cmd: cmd, log: filepath.Join(w.t.TempDir(), "log"), done: make(chan struct{})}
	file, err := os.Create(p.log)
	w.must(err)
	cmd.Stderr = file
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.must(cmd.Start())
	w.must(file.Close())
	go func() { defer close(p.done); _ = cmd.Wait() }()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.done
		if w.t.Failed() {
			said := p.said()
			w.t.Logf("--- %s:\n%s", name, said[max(0, len(said)-4000):])
		}
	})
	return p
}

func (p *process) said() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// run starts `onejob api` or `onejob worker` of a version and waits until it is ready.
func (w *world) run(v version, command string) *process {
	w.t.Helper()
	port, err := redistest.FreePort()
	w.must(err)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	cmd := exec.Command(v.binary(w.t), command, "--config", w.config, "--addr", addr, "-v")
	cmd.Env = append(os.Environ(), "ONEJOB_DEV_KEYS=1")
	p := w.start(v.name+" "+command, cmd)
	p.addr = addr
	w.within(time.Minute, p.name+" is ready", func() bool {
		status, _, err := w.call(http.MethodGet, addr, "/readyz", "", "")
		return err == nil && status == http.StatusOK
	})
	return p
}

// stop ends a process in order.
func (w *world) stop(p *process) {
	w.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		require.Fail(w.t, "still running", p.name)
	}
	require.Zero(w.t, p.cmd.ProcessState.ExitCode(), p.name)
}

// tool runs a command of a version against the store.
func (w *world) tool(v version, args ...string) (string, bool) {
	w.t.Helper()
	cmd := exec.CommandContext(w.ctx, v.binary(w.t), append(args, "--config", w.config)...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// call makes one request as the operator; an error means that nobody answered.
func (w *world) call(method, addr, path, idempotencyKey, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(w.ctx, method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+auth.DevOperatorKey)
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, raw, err
}

// within waits until ok, looking often.
func (w *world) within(limit time.Duration, what string, ok func() bool) {
	w.t.Helper()
	require.Eventually(w.t, ok, limit, 50*time.Millisecond, what)
}
