package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"onejob/e2e/process"
)

// server is a process that is measured, and the store it works on.
type server struct {
	cmd   *exec.Cmd
	addr  string
	store *store
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
	if err := b.processes.Start(name, cmd); err != nil {
		return nil, err
	}
	err = process.Until(ctx, startTime, func(ctx context.Context) error { return process.Ready(ctx, addr) })
	if err != nil {
		return nil, fmt.Errorf("%s did not get ready: %w", name, err)
	}
	return &server{cmd, addr, on}, nil
}

// stop ends a server as an operator would.
func (b *bench) stop(s *server) { process.Stop(s.cmd) }

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

// afresh is onejob on an empty store.
func (b *bench) afresh(ctx context.Context, command string) (*server, error) {
	if err := b.store.empty(ctx); err != nil {
		return nil, err
	}
	return b.onejob(ctx, command)
}

func (b *bench) onejobOn(ctx context.Context, on *store, command string) (*server, error) {
	return b.serve(ctx, on, command, b.binary, func(addr string) []string {
		return []string{command, "--config", b.config, "--redis", on.url, "--addr", addr}
	}, "ONEJOB_DEV_KEYS=1")
}
