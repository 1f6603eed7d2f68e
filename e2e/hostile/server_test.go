package hostile

import (
	"bytes"
	"context"
	"encoding/json"
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
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

// patience bounds every wait for something that is sure to come.
const patience = 60 * time.Second

// Keys of the binary's fixed owners, and what a viewer gets.
const (
	ownKey, otherKey, operatorKey = "dev-key", "other-key", "dev-operator-key"
)

// configuration has providers that fail soon, and one that reports by callback. There
// are no limits per owner.
const configuration = `
redis: {url: %[1]q}
server: {addr: %[2]q, admin_addr: %[3]q, public_url: "http://%[2]s", door_wait: 1s}
drain: 1s
retention: %[4]s
webhooks: {allow_private: true, allow_http: true, timeout: 1s}
providers:
  inkjet: {type: simulated, timeout: 300ms, deadline: 600ms, concurrency: 20}
  laser: {type: simulated, timeout: 300ms, deadline: 600ms, concurrency: 20}
  press: {type: http, url: %[5]q, callback: true, timeout: 300ms, deadline: 600ms, concurrency: 20}
routes:
  print: {providers: [inkjet, laser], failover: untested, params: [temperature], backoff: {initial: 50ms, max: 50ms}}
  chat: {providers: [laser], params: [temperature]}
  bind: {providers: [press]}
`

// server is the real binary on a redis-server, with its log under watch.
type server struct {
	t           *testing.T
	addr, admin string
	viewerKey   string
	pid         int
	log         *watchedLog
	exited      chan struct{}
	known       *known
}

// Retentions of servers: records that stay for the test, and such as expire within it.
const (
	keeping  = "{job: 1h, key: 2h}"
	expiring = "{job: 20s, key: 40s}"
)

// startServer starts one that keeps records so long.
func startServer(t *testing.T, retention string) *server {
	t.Helper()
	redis := redistest.Real(t).Options()
	s := &server{t: t, addr: freeAddr(t), admin: freeAddr(t), log: &watchedLog{}, exited: make(chan struct{}), known: newKnown()}
	press := s.startPress()
	file := filepath.Join(t.TempDir(), "onejob.yaml")
	text := fmt.Sprintf(configuration, fmt.Sprintf("redis://%s/%d", redis.Addr, redis.DB), s.addr, s.admin, retention, press)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s.viewerKey = createKey(t, file, "viewer")

	cmd := exec.Command(program.Onejob(t), "serve", "--config", file)
	cmd.Env = append(cmd.Environ(), "ONEJOB_DEV_KEYS=1")
	cmd.Stdout, cmd.Stderr = s.log, s.log
	require.NoError(t, cmd.Start())
	s.pid = cmd.Process.Pid
	go func() { defer close(s.exited); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.exited
		if t.Failed() {
			t.Logf("the end of the log:\n%s", s.log.tail())
		}
	})
	s.eventually("it is ready", func() bool {
		status, _ := s.try(http.MethodGet, "/readyz", "", "")
		return status == http.StatusOK
	})
	return s
}

func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// createKey makes a key with the command.
func createKey(t *testing.T, config, role string) string {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(program.Onejob(t), "keys", "create", "--config", config, "--owner", role, "--role", role, "--json")
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, said.String())
	var made struct{ Key string }
	require.NoError(t, json.Unmarshal(out, &made))
	require.NotEmpty(t, made.Key, "%s", out)
	return made.Key
}

// startPress is a provider that says 202 and keeps the callback URLs it is given.
func (s *server) startPress() string {
	press := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			URL string `json:"callback_url"`
		}
		_ = json.NewDecoder(r.Body).Decode(&call)
		if _, token, ok := strings.Cut(call.URL, "/v1/callbacks/"); ok {
			s.known.add(kindToken, token)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	s.t.Cleanup(press.Close)
	return press.URL
}

// direct makes a connection for every call, and leaves none behind.
var direct = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// try makes an ordinary call; the status is 0 without an answer.
func (s *server) try(method, path, key, body string, headers ...string) (int, []byte) {
	request, err := http.NewRequestWithContext(context.Background(), method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := direct.Do(request)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil
	}
	return response.StatusCode, answer
}

// submit makes a job, and returns its id.
func (s *server) submit(key, idempotencyKey, body string, headers ...string) string {
	s.t.Helper()
	status, answer := s.try(http.MethodPost, "/v1/jobs", key, body, append(headers, "Idempotency-Key", idempotencyKey)...)
	require.Contains(s.t, []int{http.StatusOK, http.StatusAccepted}, status, "%s", answer)
	var job struct {
		ID string `json:"id"`
	}
	require.NoError(s.t, json.Unmarshal(answer, &job))
	return job.ID
}

// works wants a job to be done, as if nothing had been.
func (s *server) works(name string) {
	s.t.Helper()
	status, answer := s.try(http.MethodPost, "/v1/jobs", ownKey, `{"route":"print","input":"a good job"}`,
		"Idempotency-Key", "good-"+name, "Prefer", "wait=20")
	require.Equal(s.t, http.StatusOK, status, "%s", answer)
	require.Contains(s.t, string(answer), `"state":"succeeded"`)
}

// eventually asks again and again until it is so.
func (s *server) eventually(what string, so func() bool) {
	s.t.Helper()
	over := time.NewTimer(patience)
	defer over.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-s.exited:
			require.FailNow(s.t, "the process has ended", what)
		case <-over.C:
			require.FailNow(s.t, "not in time", what)
		case <-tick.C:
		}
	}
}
