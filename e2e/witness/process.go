package witness

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/logtest"
)

// Process is a program that a test started; it ends with the test at the latest.
type Process struct {
	Cmd *exec.Cmd
	Log *logtest.Buffer

	done chan struct{}
}

// Run starts a program. What it wrote last is shown when the test fails.
func Run(t testing.TB, cmd *exec.Cmd, env ...string) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, Log: &logtest.Buffer{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Log, p.Log
	cmd.WaitDelay = 5 * time.Second // a child of its own may outlive it
	cmd.Env = append(os.Environ(), env...)
	// Should this process be killed, its children go with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	require.NoError(t, cmd.Start())
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		if p.running() {
			p.Kill()
		}
		if t.Failed() {
			said := p.Log.String()
			t.Logf("--- %s:\n%s", filepath.Base(cmd.Path), said[max(0, len(said)-shownOfLog):])
		}
	})
	return p
}

const shownOfLog = 4000

func (p *Process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Kill is kill -9, and waits for the end.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.done
}

// Ended is closed when the process has.
func (p *Process) Ended() <-chan struct{} { return p.done }

// Signal sends a signal.
func (p *Process) Signal(s syscall.Signal) error { return p.Cmd.Process.Signal(s) }
