package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// admin is the second listener, server.admin_addr: the probes, the metrics and the
// profiler, and nothing of the API. It asks nobody who they are, so it belongs on
// loopback or a network of the operators' own (docs/metrics.md).
type admin struct {
	server   *http.Server
	listener net.Listener
}

// AdminAddr is where the process serves operators alone, once started; empty where
// server.admin_addr is not given.
func (a *App) AdminAddr() string {
	if a.admin == nil {
		return ""
	}
	return a.admin.listener.Addr().String()
}

// listenAdmin opens the operators' port, if there is one.
func (a *App) listenAdmin(ctx context.Context) error {
	if a.cfg.Server.AdminAddr == "" {
		return nil
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", a.cfg.Server.AdminAddr)
	if err != nil {
		return fmt.Errorf("listening at server.admin_addr %s: %w", a.cfg.Server.AdminAddr, err)
	}
	a.admin = &admin{listener: listener}
	return nil
}

// serveAdmin answers at the operators' port: the probes and numbers of the other
// port, asking for no key. It goes on while the process drains.
func (a *App) serveAdmin() {
	if a.admin == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", a.api)
	mux.Handle("GET /readyz", a.api)
	mux.Handle("GET /metrics", a.api.MetricsPage())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", withoutArguments)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	a.admin.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 40 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		err := a.admin.server.Serve(a.admin.listener)
		if !errors.Is(err, http.ErrServerClosed) {
			a.served <- fmt.Errorf("serving at %s: %w", a.AdminAddr(), err)
		}
	}()
}

// withoutArguments stands in for pprof's cmdline: a Redis URL with its password may
// be among the arguments.
func withoutArguments(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "the arguments of this process are not shown", http.StatusForbidden)
}

func (d *admin) close(ctx context.Context) error {
	if d == nil {
		return nil
	}
	if d.server == nil {
		return d.listener.Close() //nolint:wrapcheck // as that of the other listener
	}
	if err := d.server.Shutdown(ctx); err != nil {
		return errors.Join(err, d.server.Close()) // a profile may run for longer than anybody waits
	}
	return nil
}
