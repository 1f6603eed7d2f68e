package events

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listener is one client.
type listener struct {
	name  string
	start func(t *testing.T, g *gateway, job string)
}

var listeners = []listener{
	{"npm eventsource", func(t *testing.T, g *gateway, job string) { begin(t, "node", script(t), "npm", g.url, job) }},
	{"node", func(t *testing.T, g *gateway, job string) {
		path := script(t)
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

var installed struct {
	once      sync.Once
	dir       string
	temporary bool
	err       error
}

// script is events.mjs beside the packages it needs. Where they are not installed
// there, they are in a directory of this test's own: other packages' tests may
// run, and install, at the same time.
func script(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("ONEJOB_REQUIRE_NODE") != "" {
				require.FailNow(t, program+" is not installed")
			}
			t.Skip(program + " is not installed, and the client this test needs is a package of it")
		}
	}
	installed.once.Do(func() {
		installed.dir = filepath.Join("..", "node")
		if _, err := os.Stat(filepath.Join(installed.dir, "node_modules", "eventsource", "package.json")); err == nil {
			return
		}
		installed.temporary = true
		installed.dir, installed.err = install(installed.dir)
	})
	require.NoError(t, installed.err)
	return filepath.Join(installed.dir, "events.mjs")
}

func install(from string) (string, error) {
	dir, err := os.MkdirTemp("", "onejob-events-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json", "events.mjs"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return dir, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return dir, err
		}
	}
	npm := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return dir, errors.Join(err, errors.New(string(out)))
	}
	return dir, nil
}
