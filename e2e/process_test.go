package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/logtest"
	"onejob/redistest"
)

// process is a program that runs beside the test.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    *logtest.Buffer
	exited chan struct{} // closed when it has
	err    error
}

// launch starts a program with variables of its environment; it is killed at the
// end of the test if it still runs.
func launch(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, out: &logtest.Buffer{}, exited: make(chan struct{}), cmd: exec.Command(name, args...)}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.Env = append(os.Environ(), env...)
	require.NoError(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("%s %v wrote:\n%s", filepath.Base(name), args, p.out)
		}
	})
	return p
}

// onejob runs the real binary.
func onejob(t *testing.T, args ...string) *process {
	t.Helper()
	return launch(t, []string{"ONEJOB_DEV_KEYS=1"}, program.Onejob(t), args...)
}

// end waits for the process to exit and returns its code.
func (p *process) end() int {
	p.t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(40 * time.Second):
		require.FailNow(p.t, "the process did not exit", p.out.String())
		return -1
	}
}

func (p *process) terminate() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
}

// ready waits until the process at addr answers that it is ready.
func (p *process) ready(addr string) string {
	p.t.Helper()
	var body string
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	require.Eventually(p.t, func() bool {
		response, err := client.Get("http://" + addr + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = response.Body.Close() }()
		var text bytes.Buffer
		_, _ = text.ReadFrom(response.Body)
		body = text.String()
		return response.StatusCode == http.StatusOK
	}, patience, 20*time.Millisecond, "not ready: %s", p.out)
	return body
}

// freeAddr is an address of the loopback that was free just now.
func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// redisServer is a redis-server of the test's own; it returns its URL.
func redisServer(t *testing.T, flags ...string) string {
	t.Helper()
	redistest.Real(t) // or the test is skipped
	addr := freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	args := append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", ""}, flags...)
	launch(t, nil, "redis-server", args...)
	require.NoError(t, redistest.Ready(addr))
	return "redis://" + addr + "/0"
}

// configFile writes a configuration.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "onejob.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const simulatedYAML = `
drain: 5s
providers:
  inkjet: {type: simulated, timeout: 2s, deadline: 10s}
routes:
  print: {providers: [inkjet]}
`

// direct is a caller without a floor.
func direct(t *testing.T, addr string) *caller {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	return &caller{t: t, ctx: ctx, http: client, base: "http://" + addr, key: "dev-key"}
}

// TestProcess_DevAndItsBanner: nothing but the binary; the curl of the banner
// works as it stands, and twice gives one job.
func TestProcess_DevAndItsBanner(t *testing.T) {
	t.Parallel()
	addr := freeAddr(t)
	p := onejob(t, "dev", "--addr", addr)
	p.ready(addr)
	require.Eventually(t, func() bool { return strings.Contains(p.out.String(), `"page":"Hello"`) }, patience, 10*time.Millisecond)
	banner := p.out.String()
	for _, want := range []string{"memory is all it has", "dev-key", "other-key", "dev-operator-key", "/monitor"} {
		require.Contains(t, banner, want)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; its line in the banner was not tried")
	}
	command := regexp.MustCompile(`(?s)curl .*?\\\n.*?\\\n[^\n]*`).FindString(banner)
	require.NotEmpty(t, command, banner)
	first, err := exec.Command("sh", "-c", command).CombinedOutput()
	require.NoError(t, err, string(first))
	require.Contains(t, string(first), `"succeeded"`)
	second, err := exec.Command("sh", "-c", command).CombinedOutput()
	require.NoError(t, err)
	require.JSONEq(t, string(first), string(second))
	p.terminate()
	require.Zero(t, p.end())
}

// TestProcess_Demo: every promise holds, within its time.
func TestProcess_Demo(t *testing.T) {
	t.Parallel()
	started := time.Now()
	p := onejob(t, "demo")
	require.Zero(t, p.end(), p.out.String())
	require.Less(t, time.Since(started), 30*time.Second)
	require.Contains(t, p.out.String(), "Every promise held.")
	require.NotContains(t, p.out.String(), "BROKEN")
}

// TestProcess_BadConfiguration: exit code 2, and every problem at once.
func TestProcess_BadConfiguration(t *testing.T) {
	t.Parallel()
	path := configFile(t, `
providers:
  Ink Jet: {type: simulated}
  laser: {type: simulated, timeout: 20s, deadline: 10s}
routes:
  print: {providers: [nobody]}
colour: blue
`)
	for _, command := range []string{"serve", "api", "worker", "dev"} {
		p := onejob(t, command, "--config", path)
		require.Equal(t, 2, p.end(), p.out.String())
		for _, want := range []string{"Ink Jet", "timeout", "nobody", "colour"} {
			require.Contains(t, p.out.String(), want, command)
		}
	}
	for _, args := range [][]string{{"serve"}, {"serve", "--nonsense"}, {"dev", "superfluous"}, {"keys", "create"}} {
		p := onejob(t, args...)
		require.Equal(t, 2, p.end(), "%v: %s", args, p.out)
	}
}

// TestProcess_RefusesAnEvictingRedis: it says why, and does not start
// [bullmq 2215, sidekiq 2883].
func TestProcess_RefusesAnEvictingRedis(t *testing.T) {
	t.Parallel()
	url := redisServer(t, "--maxmemory-policy", "allkeys-lru")
	path := configFile(t, simulatedYAML)
	for _, command := range []string{"serve", "api", "worker"} {
		p := onejob(t, command, "--config", path, "--redis", url, "--addr", freeAddr(t))
		require.Equal(t, 1, p.end(), p.out.String())
		require.Contains(t, p.out.String(), "allkeys-lru")
		require.Contains(t, p.out.String(), "noeviction")
	}
	p := onejob(t, "doctor", "--redis", url)
	require.Equal(t, 1, p.end())
	require.Contains(t, p.out.String(), "allkeys-lru")
}

// TestProcess_Durability: the class is on /readyz; fsync refuses a weaker server.
func TestProcess_Durability(t *testing.T) {
	t.Parallel()
	for class, flags := range map[string][]string{
		"memory":   {"--appendonly", "no"},
		"everysec": {"--appendonly", "yes", "--appendfsync", "everysec"},
		"fsync":    {"--appendonly", "yes", "--appendfsync", "always"},
	} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			url, addr := redisServer(t, flags...), freeAddr(t)
			p := onejob(t, "serve", "--config", configFile(t, simulatedYAML), "--redis", url, "--addr", addr)
			require.Contains(t, p.ready(addr), `"`+class+`"`)
			strict := configFile(t, "redis: {durability: fsync}\n"+simulatedYAML)
			addr = freeAddr(t)
			q := onejob(t, "api", "--config", strict, "--redis", url, "--addr", addr)
			if class == "fsync" {
				q.ready(addr)
				return
			}
			require.Equal(t, 1, q.end(), q.out.String())
			require.Contains(t, q.out.String(), class)
			require.Contains(t, q.out.String(), "appendfsync always")
		})
	}
}

// TestProcess_ApiWorkerKeysAndSigterm: API and worker as two processes, with a
// key made on the command line; SIGTERM lets the call in flight finish; a revoked
// key opens nothing any more.
func TestProcess_ApiWorkerKeysAndSigterm(t *testing.T) {
	t.Parallel()
	url, path := redisServer(t), configFile(t, simulatedYAML)
	created := launch(t, nil, program.Onejob(t), "keys", "create", "--redis", url, "--owner", "acme", "--label", "till")
	require.Zero(t, created.end(), created.out.String())
	secret := regexp.MustCompile(`(?m)^oj_\S+$`).FindString(created.out.String())
	require.NotEmpty(t, secret, created.out.String())
	list := launch(t, nil, program.Onejob(t), "keys", "list", "--redis", url)
	require.Zero(t, list.end())
	require.Contains(t, list.out.String(), "acme")
	require.NotContains(t, list.out.String(), secret)

	apiAddr, workerAddr := freeAddr(t), freeAddr(t)
	api := launch(t, nil, program.Onejob(t), "api", "--config", path, "--redis", url, "--addr", apiAddr)
	worker := launch(t, nil, program.Onejob(t), "worker", "--config", path, "--redis", url, "--addr", workerAddr)
	api.ready(apiAddr)
	worker.ready(workerAddr)
	acme := direct(t, apiAddr).as(secret)
	require.Equal(t, http.StatusUnauthorized, acme.as("dev-key").submit("k", page1).status, "the fixed keys are on")

	const slow = `{"route":"print","input":{"simulate":{"inkjet":{"delay":"1500ms","result":"slow"}}}}`
	job := acme.submit("slow", slow).job
	require.Equal(t, "acme", job.Owner)
	acme.untilState(job.ID, "running")
	worker.terminate()
	require.Zero(t, worker.end(), worker.out.String())
	done := acme.get(job.ID)
	require.Equal(t, "succeeded", string(done.State), "the worker went without waiting for its call: %v", done.Attempts)

	// What is submitted while no worker is there waits for the next one.
	waiting := acme.submit("later", page1).job
	worker = launch(t, nil, program.Onejob(t), "worker", "--config", path, "--redis", url, "--addr", workerAddr)
	acme.untilState(waiting.ID, "succeeded")
	worker.terminate()
	require.Zero(t, worker.end())

	id := regexp.MustCompile(`(?m)^\S+:`).FindString(created.out.String())
	revoked := launch(t, nil, program.Onejob(t), "keys", "revoke", "--redis", url, strings.TrimSuffix(id, ":"))
	require.Zero(t, revoked.end(), revoked.out.String())
	require.Eventually(t, func() bool {
		a, err := acme.call(http.MethodGet, "/v1/jobs", "")
		return err == nil && a.status == http.StatusUnauthorized
	}, patience, 100*time.Millisecond)
	api.terminate()
	require.Zero(t, api.end(), api.out.String())
}

// TestProcess_DrainEnds: a call that outlasts the drain is unknown, not lost.
func TestProcess_DrainEnds(t *testing.T) {
	t.Parallel()
	url, addr := redisServer(t), freeAddr(t)
	path := configFile(t, strings.Replace(simulatedYAML, "drain: 5s", "drain: 300ms", 1))
	p := onejob(t, "serve", "--config", path, "--redis", url, "--addr", addr)
	p.ready(addr)
	dev := direct(t, addr)
	job := dev.submit("k", `{"route":"print","input":{"simulate":{"inkjet":{"outcome":"hang"}}}}`).job
	dev.untilState(job.ID, "running")
	p.terminate()
	p.end()
	q := onejob(t, "api", "--config", path, "--redis", url, "--addr", addr)
	q.ready(addr)
	after := dev.get(job.ID)
	require.Equal(t, "unknown", string(after.State))
	require.Equal(t, "worker_stopped", after.Attempts[0].Reason)
}

// TestProcess_Doctor: a sound Redis and a ready process are fine; nothing there
// is not.
func TestProcess_Doctor(t *testing.T) {
	t.Parallel()
	url := redisServer(t, "--appendonly", "yes", "--appendfsync", "always")
	p := onejob(t, "doctor", "--redis", url)
	require.Zero(t, p.end(), p.out.String())
	for _, want := range []string{"durability", "fsync", "clock", "latency"} {
		require.Contains(t, p.out.String(), want)
	}
	addr := freeAddr(t)
	serving := onejob(t, "api", "--config", configFile(t, simulatedYAML), "--redis", url, "--addr", addr)
	serving.ready(addr)
	require.Zero(t, onejob(t, "doctor", "--process", "--addr", addr).end())
	require.Equal(t, 1, onejob(t, "doctor", "--process", "--addr", freeAddr(t)).end())
	require.Equal(t, 1, onejob(t, "doctor", "--redis", fmt.Sprintf("redis://%s/0", freeAddr(t))).end())
}
