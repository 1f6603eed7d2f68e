package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/client"
	"onejob/config"
)

// patience bounds every wait of these tests.
const patience = time.Minute

const configuration = `
drain: 1s
providers:
  inkjet: {type: simulated, timeout: 300ms, deadline: 20s}
  laser:  {type: simulated, timeout: 300ms, deadline: 20s}
routes:
  print: {providers: [inkjet, laser], failover: untested, params: [copies]}
`

// serve starts a process with an embedded Redis and says where it is.
func serve(t testing.TB, addr string) *app.App {
	t.Helper()
	cfg, err := config.Parse("client.yaml", []byte(configuration), nil, config.WithAddr(addr))
	require.NoError(t, err)
	a := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithEmbeddedRedis(), app.WithDevKeys())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, a.Start(ctx))
	return a
}

// bundle is a server behind a proxy that can be nasty, and clients of both.
type bundle struct {
	t      *testing.T
	ctx    context.Context
	proxy  *proxy
	direct *client.Client // past the proxy
}

func setup(t *testing.T) *bundle {
	t.Helper()
	a := serve(t, "127.0.0.1:0")
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	b := &bundle{t: t, ctx: ctx, proxy: newProxy(t, a.Addr())}
	b.direct = b.clientOf("http://"+a.Addr(), "dev-key")
	return b
}

// clientOf is a client with connections of its own and pauses of milliseconds.
func (b *bundle) clientOf(address, key string, opts ...client.Option) *client.Client {
	b.t.Helper()
	return newClient(b.t, address, key, opts...)
}

func newClient(t testing.TB, address, key string, opts ...client.Option) *client.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	opts = append([]client.Option{client.WithHTTPClient(&http.Client{Transport: transport}), client.Hasty(0)}, opts...)
	c, err := client.New(address, key, opts...)
	require.NoError(t, err)
	return c
}

// through is a client behind the proxy.
func (b *bundle) through(opts ...client.Option) *client.Client {
	b.t.Helper()
	return b.clientOf(b.proxy.url, "dev-key", opts...)
}

// only is the one job there is.
func (b *bundle) only() *client.Job {
	b.t.Helper()
	all := b.all(client.Query{})
	require.Len(b.t, all, 1)
	return all[0]
}

func (b *bundle) all(q client.Query) []*client.Job {
	b.t.Helper()
	var all []*client.Job
	for job, err := range b.direct.List(b.ctx, q) {
		require.NoError(b.t, err)
		all = append(all, job)
	}
	return all
}

// page is an input under which the printers behave as they are told.
func page(behaviour string) map[string]any {
	input := map[string]any{"page": "Hello"}
	if behaviour != "" {
		input["simulate"] = map[string]any{
			"inkjet": map[string]any{"outcome": behaviour}, "laser": map[string]any{"outcome": behaviour},
		}
	}
	return input
}

// newServer always answers with body.
func newServer(t *testing.T, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
