package app

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/auth"
	"onejob/config"
	"onejob/redistest"
)

// overRedis is a configuration over a real Redis of the test's own: in an embedded one
// no process can be found by another.
func overRedis(t *testing.T, text string) *config.Config {
	t.Helper()
	options := redistest.Real(t).Options()
	cfg := parse(t, text)
	cfg.Redis.URL = "redis://" + options.Addr + "/" + strconv.Itoa(options.DB)
	return cfg
}

// The second port has what operators' tools need, without a key, and nothing of the
// API.
func TestAdminAddr(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]Option{
		"an API": {WithAPI()}, "a worker": {WithWorker()}, "both": {WithAPI(), WithWorker()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := overRedis(t, oneProvider)
			cfg.Server.AdminAddr = "127.0.0.1:0"
			a := started(t, cfg, opts...)
			require.NotEqual(t, a.Addr(), a.AdminAddr())
			for path, want := range map[string]string{
				"/healthz": `"status":"ok"`, "/readyz": `"ready":true`, "/metrics": "onejob_build_info", "/debug/pprof/": "goroutine",
				"/debug/pprof/goroutine?debug=1": "goroutine profile",
			} {
				status, text := page(t, a.AdminAddr(), path, "")
				require.Equal(t, http.StatusOK, status, path)
				requireLine(t, text, want)
			}
			status, text := page(t, a.AdminAddr(), "/debug/pprof/cmdline", "")
			require.Equal(t, http.StatusForbidden, status)
			require.NotContains(t, text, "test", "arguments may hold passwords")
			for _, path := range []string{"/v1/jobs", "/monitor", "/dashboard", "/openapi.yaml", "/"} {
				status, _ := page(t, a.AdminAddr(), path, "")
				require.Equal(t, http.StatusNotFound, status, path)
			}
			status, _ = page(t, a.Addr(), "/debug/pprof/", "")
			require.Equal(t, http.StatusNotFound, status, "the profiler is on the other port alone")
		})
	}
}

func TestAdminAddr_ThatIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	cfg := parse(t, oneProvider)
	cfg.Server.AdminAddr = taken.Addr().String()
	a := New(cfg, WithAPI(), WithEmbeddedRedis(), WithDevKeys())
	require.ErrorContains(t, a.Run(t.Context()), "listening at server.admin_addr")
}

// Whether the metrics are open goes by the address that is listened at: on loopback
// they are, elsewhere they are for viewers, on API processes and workers alike.
func TestMetrics_AreOpenOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]Option{"an API": {WithAPI()}, "a worker": {WithWorker()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := overRedis(t, oneProvider)
			local := started(t, cfg, opts...)
			status, _ := page(t, local.Addr(), "/metrics", "")
			require.Equal(t, http.StatusOK, status)

			rdb, err := connection{cfg.Redis}.client()
			require.NoError(t, err)
			t.Cleanup(func() { _ = rdb.Close() })
			keys := auth.New(rdb)
			viewer, _, err := keys.Create(t.Context(), "prometheus", auth.Viewer, "", time.Time{})
			require.NoError(t, err)
			submit, _, err := keys.Create(t.Context(), "shop", auth.Submit, "", time.Time{})
			require.NoError(t, err)

			open := *cfg
			open.Server.Addr = "0.0.0.0:0"
			reachable := started(t, &open, opts...)
			_, port, err := net.SplitHostPort(reachable.Addr())
			require.NoError(t, err)
			here := "127.0.0.1:" + port // a peer on loopback, as behind a proxy
			for key, want := range map[string]int{
				"": http.StatusUnauthorized, "nobody's": http.StatusUnauthorized, submit: http.StatusForbidden, viewer: http.StatusOK,
			} {
				status, text := page(t, here, "/metrics", key)
				require.Equal(t, want, status)
				require.Equal(t, want == http.StatusOK, strings.Contains(text, "onejob_build_info"))
			}
			status, _ = page(t, here, "/healthz", "")
			require.Equal(t, http.StatusOK, status)
		})
	}
}

// A profile that somebody takes holds up the end of a process for no longer than any
// request may.
func TestAdminAddr_EndsInTime(t *testing.T) {
	t.Parallel()
	d := &admin{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	busy, over := make(chan struct{}), make(chan struct{})
	d.listener = listener
	d.server = &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(busy)
		<-r.Context().Done()
		close(over)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = d.server.Serve(listener) }()
	go func() {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err == nil {
			defer func() { _ = conn.Close() }()
			_, _ = conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			_, _ = conn.Read(make([]byte, 1))
		}
	}()
	<-busy
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, d.close(ctx), context.DeadlineExceeded)
	<-over
	<-served
}
