package chaos_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

const (
	apis    = 2
	workers = 3
	seedEnv = "ONEJOB_CHAOS_SEED"
	dirEnv  = "ONEJOB_CHAOS_DIR" // keeps logs, ledger and the store's files; else they go with the test
)

// world is everything that runs. Between all of it are proxies.
type world struct {
	t    *testing.T
	seed int64
	calm bool // nothing is made to fail
	dir  string
	bin  string

	redis, provider *process
	apis, workers   []*process
	fsckConfig      string
	proxies         []*toxiproxy.Proxy
	http            *http.Client
	history         *history
	ledger          *ledger
	poisoned        tally         // toxics by name; of who fires them
	redisAway       time.Duration // between a kill and its being ready again; of who holds redis
	torn            int           // writes that Redis found cut off when it started; likewise
}

func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

func newWorld(t *testing.T, seed int64) *world {
	t.Helper()
	return start(t, &world{t: t, seed: seed})
}

func start(t *testing.T, w *world) *world {
	t.Helper()
	w.dir, w.bin, w.history, w.poisoned = os.Getenv(dirEnv), program.Onejob(t), &history{}, tally{}
	if w.dir == "" {
		w.dir = t.TempDir()
	}
	require.NoError(t, os.MkdirAll(w.dir, 0o700))
	transport := &http.Transport{MaxIdleConnsPerHost: 4 * callers}
	w.http = &http.Client{Transport: transport}
	t.Cleanup(transport.CloseIdleConnections)
	w.ledger = newLedger(filepath.Join(w.dir, "ledger"))
	w.startStores()
	for i := range workers {
		name, addr := fmt.Sprint("worker", i), freeAddr(t)
		w.workers = append(w.workers, w.run(name, addr, w.bin, nil, "worker", "--config", w.writeConfig(name), "--addr", addr))
	}
	for i := range apis {
		name, addr := fmt.Sprint("api", i), freeAddr(t)
		p := w.run(name, addr, w.bin, nil, "api", "--config", w.writeConfig(name), "--addr", addr)
		p.proxied = w.proxy("callers-"+name, addr)
		w.apis = append(w.apis, p)
	}
	w.fsckConfig = w.writeConfig("fsck")
	return w
}

func (w *world) startRedis() {
	w.t.Helper()
	addr := freeAddr(w.t)
	_, port, _ := net.SplitHostPort(addr)
	w.redis = w.run("redis", addr, "redis-server", nil, "--port", port, "--bind", "127.0.0.1", "--dir", w.dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "")
	require.NoError(w.t, redistest.Ready(addr))
}

// startStores starts who keeps something: redis-server, and the provider.
func (w *world) startStores() {
	w.t.Helper()
	w.startRedis()
	self, err := os.Executable()
	require.NoError(w.t, err)
	addr := freeAddr(w.t)
	env := []string{providerEnv + "=" + w.ledger.path, providerAddrEnv + "=" + addr, seedEnv + "=" + strconv.FormatInt(w.seed, 10)}
	if w.calm {
		env = append(env, calmEnv+"=1")
	}
	w.provider = w.run("provider", addr, self, env)
}

func (w *world) proxy(name, to string) string {
	w.t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(server, name, "127.0.0.1:0", to)
	require.NoError(w.t, p.Start())
	w.t.Cleanup(p.Stop)
	w.proxies = append(w.proxies, p)
	return p.Listen
}

const lease = 3 * time.Second

// writeConfig writes the configuration of one process, with proxies of its own.
func (w *world) writeConfig(name string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name+".yaml")
	text := strings.NewReplacer(
		"REDIS", w.proxy(name+"-redis", w.redis.addr), "PROVIDER", w.proxy(name+"-provider", w.provider.addr)+"/"+name,
	).Replace(`
redis: {url: "redis://REDIS/0", durability: fsync}
retention: {job: 12h, key: 24h}
drain: 3s
lease: 3s
beat: 1s
providers:
  press: {type: http, url: "http://PROVIDER/create/press", timeout: 500ms, deadline: 4s, concurrency: 20,
          lookup_url: "http://PROVIDER/status/{attempt}", cancel_url: "http://PROVIDER/cancel/{attempt}"}
  # It cannot be asked: only an operator settles what stays unknown.
  stamp: {type: http, url: "http://PROVIDER/create/stamp", timeout: 500ms, deadline: 4s, concurrency: 10}
routes:
  print: {providers: [press, stamp], tries: 2, max_attempts: 4, failover: untested, backoff: {initial: 100ms, max: 1s}}
  stamp: {providers: [stamp], tries: 4, max_attempts: 4, backoff: {initial: 100ms, max: 1s}}
`)
	if w.calm {
		text = patient.Replace(text)
	}
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// onejobs are the processes of onejob.
func (w *world) onejobs() []*process { return slices.Concat(w.apis, w.workers) }

// ready waits until every process answers.
func (w *world) ready(ctx context.Context) {
	w.t.Helper()
	for _, p := range w.onejobs() {
		for {
			resp, _, err := w.send(ctx, "http://"+p.addr, request{method: http.MethodGet, path: "/readyz"})
			if err == nil && resp.StatusCode == http.StatusOK {
				break
			}
			require.True(w.t, rest(ctx, 50*time.Millisecond), "%s is not ready: %v (logs: %s)", p.name, err, dirEnv)
		}
	}
}
