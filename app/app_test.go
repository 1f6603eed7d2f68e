package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/config"
	"onejob/providers"
)

func parse(t *testing.T, text string, opts ...config.Option) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test", []byte(text), nil, append(opts, config.WithAddr("127.0.0.1:0"))...)
	require.NoError(t, err)
	return cfg
}

const oneProvider = `
drain: 1s
providers: {inkjet: {type: simulated, timeout: 2s, deadline: 5s}}
routes: {print: {providers: [inkjet]}}
`

// stamp is a provider type of somebody else's.
type stamp struct{ ink string }

func (s stamp) Execute(_ context.Context, call *providers.Call) providers.Outcome {
	if err := call.Wire.Leaving(); err != nil {
		return providers.Outcome{Kind: providers.Failed, Reason: providers.ReasonNotSent}
	}
	return providers.Success(json.RawMessage(`"stamped in `+s.ink+`"`), nil)
}

// TestWithProvider: a process with a provider type of the user's own.
func TestWithProvider(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `
drain: 1s
providers: {mine: {type: stamp, model: blue}}
routes: {stamp: {providers: [mine]}}
`, config.WithTypes("stamp"))
	a := New(cfg, WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys(), WithProvider("stamp",
		func(c providers.Config) (providers.Provider, error) { return stamp{c.Model}, nil }))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, a.Start(ctx))
	defer func() { require.NoError(t, a.Close()) }()
	require.Equal(t, Memory, a.Durability())
	body := post(ctx, t, a.Addr(), `{"route":"stamp","input":{}}`)
	require.Contains(t, body, `stamped in blue`)
}

func post(ctx context.Context, t *testing.T, addr, body string) string {
	t.Helper()
	return postAs(ctx, t, addr, "k", body)
}

func postAs(ctx context.Context, t *testing.T, addr, key, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/jobs", strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Authorization": "Bearer dev-key", "Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=20",
	} {
		request.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, string(text))
	return string(text)
}

// TestRun_EndsWithItsContext: it serves until told to stop, and leaves nothing
// running (goleak looks).
func TestRun_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := New(parse(t, oneProvider), WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys())
	require.NoError(t, a.Start(ctx))
	ended := make(chan error, 1)
	go func() { ended <- a.Wait(ctx) }()
	cancel()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		require.FailNow(t, "it did not end")
	}
}

// TestStart_WhatCannotStart: it says why, and Close takes back what was begun.
func TestStart_WhatCannotStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	for name, c := range map[string]struct {
		change func(*config.Config)
		opts   []Option
		want   string
	}{
		"the address is taken": {
			func(c *config.Config) { c.Server.Addr = taken.Addr().String() },
			[]Option{WithEmbeddedRedis(), WithDevKeys()},
			"listening at",
		},
		"fixed keys on an open address": {
			func(c *config.Config) { c.Server.Addr = "0.0.0.0:0" },
			[]Option{WithEmbeddedRedis(), WithDevKeys()},
			"the fixed keys",
		},
		"no Redis there": {
			func(c *config.Config) { c.Redis.URL = "redis://127.0.0.1:1/0" }, nil, "Redis",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := parse(t, oneProvider)
			c.change(cfg)
			a := New(cfg, append(c.opts, WithAPI(), WithWorker())...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := a.Run(ctx)
			require.ErrorContains(t, err, c.want)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}

// TestNew_SharesNothing: two processes of one configuration do not meet in it.
func TestNew_SharesNothing(t *testing.T) {
	t.Parallel()
	cfg := parse(t, oneProvider)
	url := cfg.Redis.URL
	first := New(cfg, WithAPI(), WithEmbeddedRedis(), WithDevKeys())
	second := New(cfg, WithAPI(), WithEmbeddedRedis(), WithDevKeys())
	require.NoError(t, errors.Join(first.Start(t.Context()), second.Start(t.Context())))
	require.NotEqual(t, first.Addr(), second.Addr())
	require.Equal(t, url, cfg.Redis.URL)
	require.NoError(t, errors.Join(first.Close(), second.Close()))
}

func TestOlder(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{
		"6.2.0": false, "6.2": false, "7.0.15": false, "10.0.0": false, "6.0.16": true, "5.0.7": true, "6": true, "6.10.1": false,
	} {
		require.Equal(t, old, older(version, oldestRedis), version)
	}
}

func TestInfoField(t *testing.T) {
	t.Parallel()
	const info = "# Server\r\nredis_version:7.0.15\r\n# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n"
	require.Equal(t, "noeviction", infoField(info, "maxmemory_policy"))
	require.Equal(t, "0", infoField(info, "maxmemory"))
	require.Empty(t, infoField(info, "aof_enabled"))
}

func TestQueueLog_SaysItInSlog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := queueLog{slog.New(slog.NewTextHandler(&out, nil))}
	log.Warn("recoverer: ", errors.New("away"))
	log.Fatal("a queue in trouble")
	require.Contains(t, out.String(), "recoverer: away")
	require.Contains(t, out.String(), "level=ERROR")
}

// TestBuildProviders_OfEveryType: what the configuration takes by its defaults,
// every type of provider takes, too.
func TestBuildProviders_OfEveryType(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `
providers:
  a: {type: simulated}
  b: {type: http, url: "http://127.0.0.1:1", body: {"in": "{{input}}"}, result_path: out, error_path: /fault}
  c: {type: openai, base_url: "http://127.0.0.1:1/v1", model: m}
  d: {type: openai, base_url: "http://127.0.0.1:1/v1", model: m, api: responses}
  e: {type: anthropic, base_url: "http://127.0.0.1:1", model: m}
  f: {type: replicate, base_url: "http://127.0.0.1:1", model: o/m}
  g: {type: replicate, base_url: "http://127.0.0.1:1", api: cog}
routes: {r: {providers: [a, b, c, d, e, f, g]}}
`)
	built, err := buildProviders(cfg, builtIn(), unguarded)
	require.NoError(t, err)
	require.Len(t, built, 7)
}
