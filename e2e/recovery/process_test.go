package recovery_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is one that the test started; it ends with the test.
type process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	out  string // the file with what it said
	done chan struct{}
}

// start starts a program. Its words go to a file, shown when the test fails.
func start(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, name: name, cmd: cmd, out: filepath.Join(t.TempDir(), "log"), done: make(chan struct{})}
	file, err := os.Create(p.out)
	require.NoError(t, err)
	cmd.Stderr = file
	if cmd.Stdout == nil {
		cmd.Stdout = file
	}
	// Should this process be killed, its children go with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start(), "starting %s", name)
	require.NoError(t, file.Close())
	go func() { defer close(p.done); _ = cmd.Wait() }()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("--- %s (pid %d):\n%s", name, cmd.Process.Pid, p.tail())
		}
	})
	return p
}

const shownOfLog = 6000

func (p *process) tail() string {
	said := p.said()
	return said[max(0, len(said)-shownOfLog):]
}

func (p *process) said() string {
	raw, err := os.ReadFile(p.out)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill is kill -9, and waits for the end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// stop freezes the process, as SIGSTOP or a sleeping machine does.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	p.awaitStopped()
}

func (p *process) resume() { p.signal(syscall.SIGCONT) }

func (p *process) awaitStopped() {
	p.t.Helper()
	within(p.t, 60*time.Second, p.name+" is stopped", p.stopped)
}

// stopped looks into /proc: the third field is T.
func (p *process) stopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return len(rest) > 0 && rest[0] == 'T'
}

// terminate is SIGTERM; it returns how long the end took.
func (p *process) terminate(limit time.Duration) time.Duration {
	p.t.Helper()
	began := time.Now()
	p.signal(syscall.SIGTERM)
	p.awaitEnd(limit)
	return time.Since(began)
}

func (p *process) awaitEnd(limit time.Duration) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		require.Fail(p.t, "still running", "%s has not ended in %v", p.name, limit)
	}
}

// awaitWord waits until the process has said a word.
func (p *process) awaitWord(word string) {
	p.t.Helper()
	within(p.t, 60*time.Second, p.name+" says "+word, func() bool { return strings.Contains(p.said(), word) })
}

// firstLine reads the first line a program writes to its standard output.
func firstLine(t *testing.T, cmd *exec.Cmd, begin func() *process) (string, *process) {
	t.Helper()
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	p := begin()
	line, err := bufio.NewReader(pipe).ReadString('\n')
	require.NoError(t, err, p.said())
	go func() { _, _ = io.Copy(io.Discard, pipe) }()
	return strings.TrimSpace(line), p
}

// within waits until ok, looking often; it fails when that takes longer than limit.
func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.Fail(t, "waited too long", "%s: not so in %v", what, limit)
		}
	}
}
