package soak_test

import (
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is a program that is killed and started again with the same command.
type process struct {
	name    string
	make    func() *exec.Cmd
	address string // of its /metrics; empty: it has none

	mu    sync.Mutex
	cmd   *exec.Cmd
	done  chan struct{}
	began time.Time
}

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd, done := p.make(), make(chan struct{})
	// Should this process be killed, its children go with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.done, p.began = cmd, done, time.Now()
	go func() { defer close(done); _ = cmd.Wait() }()
	return nil
}

// kill ends it at once and waits until it is gone.
func (p *process) kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	<-p.done
	return nil
}

// life is the process id and the age of what runs now, and whether it does.
func (p *process) life() (pid int, age time.Duration, alive bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return 0, 0, false
	default:
		return p.cmd.Process.Pid, time.Since(p.began), true
	}
}
