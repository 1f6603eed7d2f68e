package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
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

// configuration has a provider that is soon given up, and one that works.
const configuration = `
lease: 3s
beat: 1s
providers:
  inkjet: {type: simulated, timeout: 300ms, deadline: 600ms}
  laser: {type: simulated, timeout: 10s, deadline: 60s}
routes:
  print: {providers: [inkjet]}
  plot: {providers: [laser]}
dashboard: {redact: [input.secret]}
`

// server is a real process with an embedded Redis.
type server struct {
	t    *testing.T
	base string
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	needsBrowser(t)
	port, err := redistest.FreePort()
	require.NoError(t, err)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	config := filepath.Join(t.TempDir(), "onejob.yaml")
	require.NoError(t, os.WriteFile(config, []byte(configuration), 0o600))
	cmd := exec.Command(program.Onejob(t), append([]string{"dev", "--config", config, "--addr", addr}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
		if t.Failed() {
			t.Logf("onejob wrote:\n%s", out.String())
		}
	})
	s := &server{t: t, base: "http://" + addr}
	require.Eventually(t, func() bool {
		select {
		case <-exited:
			return true
		default:
		}
		status, _, err := s.call(http.MethodGet, "/readyz", "", "")
		return err == nil && status == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond, "it did not get ready")
	select {
	case <-exited:
		require.FailNow(t, "it ended", out.String())
	default:
	}
	return s
}

// client makes a connection for every call, and leaves none behind.
var client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (s *server) call(method, path, key, body string, headers ...string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
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
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// job is what the tests read of one.
type job struct {
	ID          string          `json:"id"`
	State       string          `json:"state"`
	Version     int             `json:"version"`
	Result      json.RawMessage `json:"result"`
	CompletedBy int             `json:"completed_by"`
	Attempts    []struct {
		State string `json:"state"`
	} `json:"attempts"`
}

// submit makes a job of owner dev and returns its id.
func (s *server) submit(key, route, input string) string {
	s.t.Helper()
	status, answer, err := s.call(http.MethodPost, "/v1/jobs", "dev-key",
		fmt.Sprintf(`{"route":%q,"input":%s}`, route, input), "Idempotency-Key", key)
	require.NoError(s.t, err)
	require.Contains(s.t, []int{http.StatusAccepted, http.StatusOK}, status, string(answer))
	return s.read(answer).ID
}

func (s *server) read(answer []byte) job {
	s.t.Helper()
	var j job
	require.NoError(s.t, json.Unmarshal(answer, &j), string(answer))
	return j
}

func (s *server) get(id string) job {
	s.t.Helper()
	status, answer, err := s.call(http.MethodGet, "/v1/jobs/"+id, "dev-key", "")
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, status, string(answer))
	return s.read(answer)
}

// await waits until the job is in a state.
func (s *server) await(id, state string) job {
	s.t.Helper()
	var last job
	require.Eventually(s.t, func() bool { last = s.get(id); return last.State == state }, 30*time.Second, 20*time.Millisecond,
		"the job did not become %s", state)
	return last
}

// Inputs that make the simulated printer behave.
const (
	hangs   = `{"page":"Hello","simulate":{"inkjet":{"outcome":"hang"}}}`
	rejects = `{"page":"Hello","simulate":{"inkjet":[{"outcome":"reject"},{"outcome":"succeed","result":{"pages":1}}]}}`
	works   = `{"page":"Hello"}`
)
