package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/config"
	"onejob/jobs"
	"onejob/logtest"
)

// floor is what one test runs on: processes over one Redis, and a shop.
type floor struct {
	t    *testing.T
	ctx  context.Context
	rdb  redis.UniversalClient
	shop *shop
	http *http.Client
	log  *logtest.Buffer
	yaml string // of the providers and routes; a process adds its own part
}

// shopYAML is the print shop with both printers at the test's shop. timeout is
// that of silence.
func shopYAML(s *shop, timeout time.Duration) string {
	return fmt.Sprintf(`
drain: 2s
providers:
  inkjet: {type: http, url: "%[1]s/inkjet", timeout: %[2]s, deadline: 60s}
  laser:  {type: http, url: "%[1]s/laser", timeout: %[2]s, deadline: 60s}
routes:
  print: {providers: [inkjet, laser], failover: untested, backoff: {initial: 10ms, max: 20ms}}
`, s.server.URL, timeout)
}

func newFloor(t *testing.T, rdb redis.UniversalClient, timeout time.Duration) *floor {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	transport := &http.Transport{MaxIdleConnsPerHost: 100, MaxConnsPerHost: 100}
	t.Cleanup(func() {
		cancel()
		transport.CloseIdleConnections()
	})
	f := &floor{t: t, ctx: ctx, rdb: rdb, shop: openShop(t), log: &logtest.Buffer{}}
	f.http = &http.Client{Transport: transport, Timeout: time.Minute}
	f.yaml = shopYAML(f.shop, timeout)
	if _, ok := rdb.(*redis.ClusterClient); ok {
		f.yaml += "redis: {wait_replicas: 0}\n" // it has none
	}
	return f
}

// url is where the test's own database is.
func url(rdb redis.UniversalClient) string {
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		addrs := cluster.Options().Addrs
		return "redis://" + addrs[0] + "?addr=" + strings.Join(addrs[1:], "&addr=")
	}
	o := rdb.(*redis.Client).Options()
	return fmt.Sprintf("redis://%s/%d", o.Addr, o.DB)
}

// start starts a process in this one and closes it with the test.
func (f *floor) start(opts ...app.Option) *app.App {
	f.t.Helper()
	cfg, err := config.Parse("test", []byte(f.yaml), nil, config.WithRedisURL(url(f.rdb)), config.WithAddr("127.0.0.1:0"))
	require.NoError(f.t, err)
	opts = append(opts, app.WithDevKeys(), app.WithLog(slog.New(slog.NewJSONHandler(f.log, nil))))
	a := app.New(cfg, opts...)
	err = a.Start(f.ctx)
	f.t.Cleanup(func() {
		_ = f.t.Failed() && f.dump()
		if err := a.Close(); err != nil {
			f.t.Log("closing:", err)
		}
	})
	require.NoError(f.t, err)
	return a
}

func (f *floor) dump() bool {
	f.t.Log(f.log.String())
	return true
}

// store is the store as a process would have it, to do by hand what a worker does.
func (f *floor) store() *jobs.Store {
	store := jobs.NewStore(f.rdb, jobs.Options{})
	f.t.Cleanup(func() { _ = store.Close() })
	return store
}

// pause holds back a provider's queue, as an operator does in the monitor.
func (f *floor) pause(queue string) {
	f.t.Helper()
	require.NoError(f.t, asynq.NewInspectorFromRedisClient(f.rdb).PauseQueue(queue))
}
