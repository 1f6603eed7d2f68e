package balancer

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// process is a program that runs until it is killed, at the latest at the end of
// its test. Its output is shown if the test fails.
type process struct {
	cmd  *exec.Cmd
	said *output
	done chan struct{} // closed when it has ended
}

func start(t *testing.T, name string, env []string, program string, args ...string) *process {
	t.Helper()
	out := &output{}
	cmd := exec.Command(program, args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start(), "starting %s", name)
	p := &process{cmd: cmd, said: out, done: make(chan struct{})}
	go func() { defer close(p.done); _ = cmd.Wait() }()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, out)
		}
	})
	return p
}

// kill ends the process the hard way (SIGKILL) and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// output keeps the end of what a process says.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const keptOutput = 64 << 10

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	if extra := o.text.Len() - keptOutput; extra > 0 {
		o.text.Next(extra)
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// freeAddr is an address on which nobody listened just now.
func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// answers waits until a GET of the URL gives the status.
func answers(t *testing.T, url string, status int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s answers %d", url, status), func(ctx context.Context) bool {
		response, err := get(ctx, url)
		return err == nil && response.StatusCode == status
	})
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := once.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	return response, response.Body.Close()
}

// once makes a connection for every request, so that nothing is sent again
// behind the test's back and nothing stays open.
var once = &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: patience}

// eventually asks again and again until it is so.
func eventually(t *testing.T, what string, so func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so(ctx) {
		select {
		case <-ctx.Done():
			require.Fail(t, "not in time", "%s", what)
		case <-tick.C:
		}
	}
}
