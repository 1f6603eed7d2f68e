package chaos_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

const (
	apis    = 2
	workers = 3
	seedEnv = "ONEJOB_CHAOS_SEED"
)

// process is a program that is killed and started again with the same command.
type process struct {
	mu   sync.Mutex
	make func() *exec.Cmd
	cmd  *exec.Cmd
	done chan struct{}
}

func (p *process) start() error {
	p.cmd = p.make()
	// Should this process be killed, its children go with it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.done = make(chan struct{})
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func(cmd *exec.Cmd, done chan struct{}) { defer close(done); _ = cmd.Wait() }(p.cmd, p.done)
	return nil
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// restart ends the process by a signal, by SIGKILL if that takes too long, and starts it again.
func (p *process) restart(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.signal(s); err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		_ = p.signal(syscall.SIGKILL)
		<-p.done
	}
	return p.start()
}

// pause freezes the process for longer than its lease.
func (p *process) pause(d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	<-time.After(d)
	return p.signal(syscall.SIGCONT)
}

// world is everything that runs. Between all of it are proxies.
type world struct {
	t    *testing.T
	seed int64
	dir  string

	redis, provider *process
	apis, workers   []*process
	apiAddrs        []string // through the proxies
	direct          []string
	config          string
	ledger          string
	proxies         []*toxiproxy.Proxy
	http            *http.Client
}

func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

func newWorld(t *testing.T, seed int64) *world {
	t.Helper()
	w := &world{t: t, seed: seed, dir: t.TempDir(), http: &http.Client{Timeout: 6 * time.Second}}
	w.ledger = filepath.Join(w.dir, "ledger")
	bin := filepath.Join(w.dir, "onejob")
	out, err := exec.Command("go", "build", "-o", bin, "onejob/cmd/onejob").CombinedOutput()
	require.NoError(t, err, string(out))
	redisAddr, providerAddr := freeAddr(t), freeAddr(t)
	_, port, _ := net.SplitHostPort(redisAddr)
	w.redis = w.run("redis", "redis-server", nil, "--port", port, "--bind", "127.0.0.1", "--dir", w.dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "")
	require.NoError(t, redistest.Ready(redisAddr))
	self, err := os.Executable()
	require.NoError(t, err)
	w.provider = w.run("provider", self, []string{providerEnv + "=" + w.ledger, providerAddrEnv + "=" + providerAddr, seedEnv + "=" + strconv.FormatInt(seed, 10)})
	for i := range workers {
		config := w.writeConfig(fmt.Sprint("worker", i), w.proxy("worker-redis", redisAddr), w.proxy("worker-provider", providerAddr))
		w.workers = append(w.workers, w.run(fmt.Sprint("worker", i), bin, nil, "worker", "--config", config, "--addr", freeAddr(t)))
	}
	for i := range apis {
		addr := freeAddr(t)
		config := w.writeConfig(fmt.Sprint("api", i), w.proxy("api-redis", redisAddr), providerAddr)
		w.apis = append(w.apis, w.run(fmt.Sprint("api", i), bin, nil, "api", "--config", config, "--addr", addr))
		w.apiAddrs, w.direct = append(w.apiAddrs, w.proxy("caller-api", addr)), append(w.direct, addr)
	}
	w.config = w.writeConfig("fsck", redisAddr, providerAddr)
	return w
}

func (w *world) run(name, path string, env []string, args ...string) *process {
	w.t.Helper()
	log, err := os.OpenFile(filepath.Join(w.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	p := &process{make: func() *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Env = append(append(os.Environ(), "ONEJOB_DEV_KEYS=1"), env...)
		cmd.Stdout, cmd.Stderr = log, log
		return cmd
	}}
	require.NoError(w.t, p.start())
	w.t.Cleanup(func() {
		_ = p.signal(syscall.SIGKILL)
		<-p.done
		_ = log.Close()
	})
	return p
}

func (w *world) proxy(name, to string) string {
	w.t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(server, fmt.Sprint(name, len(w.proxies)), "127.0.0.1:0", to)
	require.NoError(w.t, p.Start())
	w.t.Cleanup(p.Stop)
	w.proxies = append(w.proxies, p)
	return p.Listen
}

const leaseForTest = 3 * time.Second

func (w *world) writeConfig(name, redis, provider string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name+".yaml")
	text := strings.NewReplacer("REDIS", redis, "PROVIDER", provider).Replace(`
redis: {url: "redis://REDIS/0", durability: fsync}
retention: {job: 2h, key: 3h}
drain: 3s
lease: 3s
beat: 1s
providers:
  press: {type: http, url: "http://PROVIDER/create", timeout: 500ms, deadline: 2s, concurrency: 20,
          lookup_url: "http://PROVIDER/status/{attempt}", cancel_url: "http://PROVIDER/cancel/{attempt}"}
routes:
  print: {providers: [press], tries: 4, max_attempts: 4, backoff: {initial: 100ms, max: 1s}}
`)
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
