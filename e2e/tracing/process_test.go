package tracing_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	otlp "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"onejob/e2e/program"
	"onejob/redistest"
)

// collector takes OTLP over HTTP, as any does.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	raw   bytes.Buffer
	spans map[string]sent // by name
}

// sent is a span and the process that sent it.
type sent struct {
	*spans.Span
	process, service string
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{spans: map[string]sent{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.take(body)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(body []byte) {
	var request otlp.ExportTraceServiceRequest
	if proto.Unmarshal(body, &request) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	for _, from := range request.ResourceSpans {
		resource := map[string]string{}
		for _, kv := range from.Resource.Attributes {
			resource[kv.Key] = kv.Value.GetStringValue()
		}
		for _, scope := range from.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans[span.Name] = sent{span, resource["service.instance.id"], resource["service.name"]}
			}
		}
	}
}

func (c *collector) get(t *testing.T, name string) sent {
	t.Helper()
	var found sent
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		var ok bool
		found, ok = c.spans[name]
		return ok
	}, patience, 20*time.Millisecond, "the collector was not sent %s", name)
	return found
}

// run starts `onejob <command>` and waits until it is ready; end stops it and waits.
func run(t *testing.T, command, config string, env ...string) (addr string, end func()) {
	t.Helper()
	path := program.Onejob(t)
	port, err := redistest.FreePort()
	require.NoError(t, err)
	addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	var said bytes.Buffer
	cmd := exec.Command(path, command, "--config", config, "--addr", addr)
	cmd.Env = append(append(os.Environ(), "ONEJOB_DEV_KEYS=1"), env...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var once sync.Once
	end = func() {
		once.Do(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			select {
			case err := <-ended:
				require.NoError(t, err, said.String())
			case <-time.After(patience):
				_ = cmd.Process.Kill()
				require.FailNow(t, "it did not end", "%v: %s", <-ended, said.String())
			}
		})
	}
	t.Cleanup(end)
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	require.Eventually(t, func() bool {
		response, err := client.Get("http://" + addr + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, patience, 20*time.Millisecond, "%s is not ready", command)
	return addr, end
}

// TestProcesses: one trace across an API and a worker that know of each other only
// through Redis, at a collector that gets it over OTLP. Neither fails for a collector
// that is away.
func TestProcesses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and starts processes")
	}
	rdb, provider, to := redistest.Real(t), startPress(t, inOrder(http.StatusOK, http.StatusOK)), startCollector(t)
	o := rdb.Options()
	config := filepath.Join(t.TempDir(), "onejob.yaml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
redis: {url: "redis://%s/%d"}
drain: 1s
tracing: {endpoint: "${COLLECTOR}", sample: 1, service_name: print-shop}
providers: {press: {type: http, url: %q, headers: {Authorization: %s}}}
routes: {print: {providers: [press]}}
`, o.Addr, o.DB, provider.URL, secretHeader), 0o600))
	api, endAPI := run(t, "api", config, "COLLECTOR="+to.URL)
	_, endWorker := run(t, "worker", config, "COLLECTOR="+to.URL)
	submit(t, api, "k", caller)
	endAPI() // what is not sent by now is sent at the end
	endWorker()

	post, enqueue, attempt, call := to.get(t, "POST /v1/jobs"), to.get(t, "enqueue"), to.get(t, "attempt"), to.get(t, "call")
	require.Equal(t, callersSpan, fmt.Sprintf("%x", post.ParentSpanId))
	for parent, child := range map[*sent]*sent{&post: &enqueue, &enqueue: &attempt, &attempt: &call} {
		require.Equal(t, parent.SpanId, child.ParentSpanId, child.Name)
	}
	for _, span := range []sent{post, enqueue, attempt, call} {
		require.Equal(t, callersTrace, fmt.Sprintf("%x", span.TraceId))
		require.Equal(t, "print-shop", span.service)
	}
	require.Equal(t, post.process, enqueue.process)
	require.Equal(t, attempt.process, call.process)
	require.NotEqual(t, post.process, attempt.process)
	for _, secret := range []string{secretKey, secretInput, secretHeader, "confidential"} {
		require.NotContains(t, to.raw.String(), secret)
	}

	away, endAway := run(t, "serve", config, "COLLECTOR=http://127.0.0.1:1")
	submit(t, away, "k2", "")
	endAway()
}

// submit makes a job and waits until it has succeeded.
func submit(t *testing.T, addr, key, traceparent string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/jobs",
		strings.NewReader(`{"route":"print","input":{"page":"`+secretInput+`"}}`))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Authorization": "Bearer " + secretKey, "Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=20", "Traceparent": traceparent,
	} {
		request.Header.Set(name, value)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, string(text))
}
