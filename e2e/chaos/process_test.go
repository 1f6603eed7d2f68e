package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

// process is a program that is killed and started again with the same command. Who
// does something to it holds it.
type process struct {
	name    string
	addr    string       // where it listens
	proxied string       // the way there through a proxy
	asked   atomic.Int64 // callers' requests under way

	sync.Mutex
	make    func() *exec.Cmd
	cmd     *exec.Cmd
	done    chan struct{}
	stopped bool         // for good
	gaveUp  atomic.Int64 // times it ended by itself
	watched sync.WaitGroup
}

// hold takes the process for somebody who does something to it: the one asked for, or
// another that nobody holds.
func hold(of []*process, first int) *process {
	for i := range of {
		if p := of[(first+i)%len(of)]; p.TryLock() {
			return p
		}
	}
	p := of[first%len(of)]
	p.Lock()
	return p
}

func (w *world) run(name, addr, path string, env []string, args ...string) *process {
	w.t.Helper()
	log, err := os.OpenFile(filepath.Join(w.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	p := &process{name: name, addr: addr, make: func() *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Env = append(append(os.Environ(), "ONEJOB_DEV_KEYS=1"), env...)
		cmd.Stdout, cmd.Stderr = log, log
		// Should this process be killed, its children go with it.
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return cmd
	}}
	require.NoError(w.t, p.start())
	w.t.Cleanup(func() {
		p.Lock()
		p.stopped = true
		_ = p.cmd.Process.Kill()
		p.Unlock()
		p.watched.Wait()
		_ = log.Close()
	})
	return p
}

// start starts the process, and has it started again should it end by itself, as a
// supervisor does: one that finds no store when it starts gives up.
func (p *process) start() error {
	p.cmd, p.done = p.make(), make(chan struct{})
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	p.watched.Add(1)
	go p.watch(p.cmd, p.done)
	return nil
}

func (p *process) watch(cmd *exec.Cmd, done chan struct{}) {
	defer p.watched.Done()
	_ = cmd.Wait()
	close(done)
	rest(context.Background(), 200*time.Millisecond)
	p.Lock()
	defer p.Unlock()
	if p.done == done && !p.stopped {
		p.gaveUp.Add(1)
		_ = p.start()
	}
}

// alive starts a process that gave up, rather than wait for its supervisor.
func (p *process) alive() error {
	select {
	case <-p.done:
		p.gaveUp.Add(1)
		return p.start()
	default:
		return nil
	}
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal to %s: %w", p.name, err)
	}
	return nil
}

// stop ends the process for good, as its operator does.
func (p *process) stop(ctx context.Context) error {
	p.Lock()
	defer p.Unlock()
	if err := p.alive(); err != nil {
		return err
	}
	p.stopped = true
	if err := p.end(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s ended with %v", p.name, p.cmd.ProcessState)
	}
	return nil
}

// end ends the process by a signal, by SIGKILL if that takes too long.
func (p *process) end(ctx context.Context, s syscall.Signal) error {
	if err := p.signal(s); err != nil {
		return err
	}
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		_ = p.signal(syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("%s did not end by %v within %v", p.name, s, patience)
	}
}

// restart ends the process and starts it again.
func (p *process) restart(ctx context.Context, s syscall.Signal) error {
	err := p.end(ctx, s)
	if errors.Is(err, os.ErrProcessDone) {
		return err // by itself
	}
	return errors.Join(err, p.start())
}

// pause freezes the process for a while.
func (p *process) pause(ctx context.Context, d time.Duration) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	rest(ctx, d)
	return p.signal(syscall.SIGCONT)
}
