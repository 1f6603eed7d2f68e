// Package process runs what the programs that measure need beside them. It needs
// Linux: a process that was started ends with the one that started it.
package process

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Group is processes that end together, and the folder with what they say.
type Group struct {
	Dir     string
	started []*exec.Cmd
}

// Start runs a process until Close; what it says goes to <name>.log in Dir.
func (g *Group) Start(name string, cmd *exec.Cmd) error {
	out, err := os.OpenFile(filepath.Join(g.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	g.started = append(g.started, cmd)
	return nil
}

// Close ends every process, the latest first, and removes Dir.
func (g *Group) Close() {
	for _, cmd := range slices.Backward(g.started) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	_ = os.RemoveAll(g.Dir)
}

// Stop ends a process as an operator would, and waits for that.
func Stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// Ready asks the process at addr once whether it is ready: nil if it is.
func Ready(ctx context.Context, addr string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", http.NoBody)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %d", response.StatusCode)
	}
	return nil
}

// Until asks again and again until there is no error, or ctx or the limit ends; then
// it returns the latest.
func Until(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", err)
		}
	}
}
