package events

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
)

// listener is one client.
type listener struct {
	name  string
	start func(t *testing.T, g *gateway, job string)
}

var listeners = []listener{
	{"npm eventsource", func(t *testing.T, g *gateway, job string) {
		begin(t, "node", program.Script(t, "events.mjs"), "npm", g.url, job)
	}},
	{"node", func(t *testing.T, g *gateway, job string) {
		path := program.Script(t, "events.mjs")
		if out, err := exec.Command("node", "--experimental-eventsource", "-e", "EventSource").CombinedOutput(); err != nil {
			t.Skipf("this Node.js has no EventSource: %s", out)
		}
		begin(t, "node", "--experimental-eventsource", "--no-warnings", path, "own", g.url, job)
	}},
	{"chromium", func(t *testing.T, g *gateway, _ string) {
		if _, err := exec.LookPath("chromium"); err != nil {
			if os.Getenv("ONEJOB_REQUIRE_CHROMIUM") != "" {
				require.NoError(t, err)
			}
			t.Skip("chromium is not on the PATH")
		}
		begin(t, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-component-update",
			"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", g.url+"/page")
	}},
}

// begin starts a process that lives until the test ends, with all it starts.
func begin(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, name, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 10 * time.Second
	if name == "node" {
		command.Stderr = os.Stderr
	}
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		cancel()
		_ = command.Wait()
	})
}
