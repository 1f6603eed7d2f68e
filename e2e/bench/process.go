package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// server is a process that is measured, and the store it works on.
type server struct {
	cmd   *exec.Cmd
	addr  string
	store *store
}

// start runs a process until close, its words in a file of the bench's folder.
func (b *bench) start(name string, cmd *exec.Cmd) error {
	out, err := os.OpenFile(filepath.Join(b.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	b.processes = append(b.processes, cmd)
	return nil
}

// serve starts a program that answers /readyz at an address of its own, which
// args is given.
func (b *bench) serve(ctx context.Context, on *store, name, program string, args func(addr string) []string, env ...string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args(addr)...)
	cmd.Env = append(os.Environ(), env...)
	if err := b.start(name, cmd); err != nil {
		return nil, err
	}
	err = until(ctx, startTime, func(ctx context.Context) error { return ready(ctx, addr) })
	if err != nil {
		return nil, fmt.Errorf("%s did not get ready: %w", name, err)
	}
	return &server{cmd, addr, on}, nil
}

func ready(ctx context.Context, addr string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %d", response.StatusCode)
	}
	return nil
}

// stop ends a server as an operator would.
func (b *bench) stop(s *server) {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// floor starts one of the floors: this very program.
func (b *bench) floor(ctx context.Context, kind string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return b.serve(ctx, b.store, kind, self, func(addr string) []string { return []string{floorCommand, kind, addr, b.store.url} })
}

// onejob starts the real binary, as api, worker or serve.
func (b *bench) onejob(ctx context.Context, command string) (*server, error) {
	return b.onejobOn(ctx, b.store, command)
}

func (b *bench) onejobOn(ctx context.Context, on *store, command string) (*server, error) {
	return b.serve(ctx, on, command, b.binary, func(addr string) []string {
		return []string{command, "--config", b.config, "--redis", on.url, "--addr", addr}
	}, "ONEJOB_DEV_KEYS=1")
}
