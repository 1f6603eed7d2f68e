package config

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var fullEnv = map[string]string{
	"REDIS_PASSWORD": "p%40ss", "PORT": "8081", "DRAIN": "2m", "LASER_KEY": "l-1",
	"AI_KEY": "123", "TEMPERATURE": "0.5", "CONCURRENCY": "7",
}

func TestEveryKey(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	got, err := Parse("testdata/full.yaml", data, environment(fullEnv), complete)
	require.NoError(t, err)
	backoff, quarter := Backoff{Initial: time.Second, Max: 30 * time.Second}, 0.25
	require.Equal(t, &Config{
		Redis:        Redis{URL: "redis://:p%40ss@10.0.0.5:6379/3", Durability: "fsync", WaitReplicas: 2},
		Server:       Server{Addr: "0.0.0.0:8081", AdminAddr: "127.0.0.1:9091", PublicURL: "https://jobs.example.com", DoorWait: 90 * time.Second, MaxConnections: 2000},
		Retention:    Retention{Job: 48 * time.Hour, Key: 100 * time.Hour},
		Certificates: Certificates{Lifetime: 48 * time.Hour, Reverify: 24 * time.Hour, Runs: 3},
		Limits: Limits{
			OwnerLimits: OwnerLimits{RequestsPerSecond: 50, Burst: 80, OpenJobs: 10000},
			Owners:      map[string]OwnerLimits{"acme": {RequestsPerSecond: 500, OpenJobs: 100000, Share: 2}},
		},
		Dashboard: Dashboard{Session: 4 * time.Hour, Idle: 20 * time.Minute, Redact: []string{"input.card.number", "*.password"}},
		Tracing:   Tracing{Endpoint: "http://collector:4318", Sample: &quarter, ServiceName: "print-shop"},
		Webhooks: Webhooks{
			Concurrency: 4, Timeout: 20 * time.Second, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, AllowHTTP: true,
		},
		Drain: 2 * time.Minute, Lease: 30 * time.Second, Beat: 10 * time.Second,
		Providers: map[string]Provider{
			"inkjet": {Type: "simulated", Timeout: 400 * time.Millisecond, Deadline: 90 * time.Second, Concurrency: 3},
			"laser": {
				Type: "http", URL: "http://127.0.0.1:9000/print",
				Headers:   map[string]string{"Authorization": "Bearer l-1", "X-Tray": "2"},
				LookupURL: "http://127.0.0.1:9000/print/{attempt}", CancelURL: "http://127.0.0.1:9000/handles/{handle}",
				HandlePath: "/print/id", AbsentProves: true, Callback: true,
				Body:       map[string]any{"doc": "{{input}}", "copies": 2, "notify": []any{"{{callback_url}}"}},
				ResultPath: "data.ticket", ErrorPath: "/fault/text", Options: map[string]any{"duplex": true},
				Breaker: &Breaker{Failures: 3, OpenFor: 20 * time.Second},
				Timeout: 10 * time.Second, Deadline: time.Minute, Concurrency: 10,
				SettlesAfter: 15 * time.Minute,
			},
			"gpt": {
				Type: "openai", BaseURL: "https://ai.example.com/v1", APIKey: "123", Model: "large", API: "chat",
				Options: map[string]any{
					"temperature": 0.5, "seed": 7, "stop": []any{"\n", "END"}, "user": nil,
					"logit_bias": map[string]any{"50256": -100, "since": "2026-01-01"},
				},
				Timeout: 45 * time.Second, Deadline: 5 * time.Minute, Concurrency: 7,
			},
			"claude": {
				Type: "anthropic", BaseURL: "https://api.anthropic.com", APIKey: "k", Model: "m",
				Timeout: time.Minute, Deadline: 10 * time.Minute, Concurrency: 10,
			},
			"cog": {
				Type: "replicate", API: "predictions", BaseURL: "http://cog:5000", Model: "m", IdempotentCreate: &IdempotentCreate{Window: 24 * time.Hour},
				Timeout: time.Minute, Deadline: 10 * time.Minute, Concurrency: 10,
			},
			"answers": {
				Type: "openai", BaseURL: "https://api.openai.com/v1", APIKey: "k", Model: "m", API: "responses",
				Timeout: time.Minute, Deadline: 10 * time.Minute, Concurrency: 10,
			},
		},
		Routes: map[string]Route{
			"print": {
				Providers: []string{"inkjet", "laser"}, MaxAttempts: 4, Tries: 3,
				Backoff:  Backoff{Initial: 2 * time.Second, Max: 20 * time.Second},
				Contract: "testdata/contracts/print.yaml", Failover: "untested", Effects: "external",
			},
			"ask": {
				Providers: []string{"gpt", "claude", "cog", "answers"}, MaxAttempts: 4, Tries: 1, Backoff: backoff,
				Failover: "certified", Effects: "none", Race: &Race{After: 10 * time.Second},
				Params: []string{"temperature", "seed"},
			},
		},
	}, got)
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := Parse("x.yaml", []byte(`
providers:
  s: {type: simulated}
  h: {type: http, url: "http://127.0.0.1:1"}
  o: {type: openai, api_key: k, model: m}
  mine: {type: mine}
routes:
  r: {providers: [s, h], tries: 2}
`), nil, WithTypes("mine"))
	require.NoError(t, err)
	plain := Provider{Timeout: 10 * time.Second, Deadline: time.Minute, Concurrency: 10}
	s, h, mine := plain, plain, plain
	s.Type, mine.Type = "simulated", "mine"
	h.Type, h.URL = "http", "http://127.0.0.1:1"
	o := Provider{
		Type: "openai", BaseURL: "https://api.openai.com/v1", APIKey: "k", Model: "m", API: "chat",
		Timeout: time.Minute, Deadline: 10 * time.Minute, Concurrency: 10,
	}
	require.Equal(t, &Config{
		Redis:        Redis{URL: "redis://127.0.0.1:6379/0", Durability: "any"},
		Server:       Server{Addr: "127.0.0.1:8080", DoorWait: 10 * time.Minute, MaxConnections: 16384},
		Retention:    Retention{Job: 72 * time.Hour, Key: 720 * time.Hour},
		Certificates: Certificates{Lifetime: 168 * time.Hour, Runs: 1},
		Dashboard:    Dashboard{Session: 8 * time.Hour, Idle: time.Hour},
		Webhooks:     Webhooks{Concurrency: 10, Timeout: 15 * time.Second}, Drain: 10 * time.Minute, Lease: 15 * time.Second, Beat: 5 * time.Second,
		Providers: map[string]Provider{"s": s, "h": h, "o": o, "mine": mine},
		Routes: map[string]Route{"r": {
			Providers: []string{"s", "h"}, MaxAttempts: 4, Tries: 2,
			Backoff: Backoff{Initial: time.Second, Max: 30 * time.Second}, Failover: "certified", Effects: "external",
		}},
	}, got)
	require.NoError(t, got.Validate(WithTypes("mine")))
}

func TestDefaultNeedsNoFile(t *testing.T) {
	t.Parallel()
	c := Default()
	require.Equal(t, "redis://127.0.0.1:6379/0", c.Redis.URL)
	require.Equal(t, time.Minute, c.Drain)
	require.Equal(t, 10*time.Minute, c.Server.DoorWait)
}

func TestWaitReplicas(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		redis string
		kind  Kind
		want  int
	}{
		"single":           {`{url: "redis://a:1/0"}`, KindSingle, 0},
		"single, written":  {`{url: "redis://a:1/0", wait_replicas: 1}`, KindSingle, 1},
		"cluster":          {`{url: "redis://a:1?addr=b:2"}`, KindCluster, 1},
		"cluster, none":    {`{url: "redis://a:1?addr=b:2", wait_replicas: 0}`, KindCluster, 0},
		"sentinel":         {`{url: "rediss://a:1/2?master_name=m&addr=b:2"}`, KindSentinel, 1},
		"sentinel, two":    {`{url: "redis://a:1/2?master_name=m", wait_replicas: 2}`, KindSentinel, 2},
		"socket of a file": {`{url: "unix:///run/redis.sock?db=1"}`, KindSingle, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Parse("x.yaml", small("redis: "+test.redis), nil)
			require.NoError(t, err)
			require.Equal(t, test.kind, c.Redis.Kind())
			require.Equal(t, test.want, c.Redis.WaitReplicas)
		})
	}
	c := &Config{Redis: Redis{URL: "redis://a:1?addr=b:2"}}
	c.SetDefaults()
	require.Equal(t, 1, c.Redis.WaitReplicas, "also in code")
}

// small is a configuration that is right, and what is added to it.
func small(more string) []byte {
	return []byte("providers: {a: {type: simulated}}\nroutes: {r: {providers: [a]}}\n" + more + "\n")
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	c, err := Parse("x.yaml", small(`redis: {url: "redis://a:1/0"}`), nil,
		WithRedisURL("redis://b:2?addr=c:3"), WithAddr(":9"))
	require.NoError(t, err)
	require.Equal(t, Redis{URL: "redis://b:2?addr=c:3", Durability: "any", WaitReplicas: 1}, c.Redis)
	require.Equal(t, ":9", c.Server.Addr)

	c, err = Parse("x.yaml", small(`redis: {url: "redis://a:1/0"}`), nil, WithRedisURL(""), WithAddr(""))
	require.NoError(t, err)
	require.Equal(t, "redis://a:1/0", c.Redis.URL)
	require.Equal(t, "127.0.0.1:8080", c.Server.Addr)

	_, err = Parse("x.yaml", small("server: {addr: \":1\"}"), nil, WithAddr("nowhere"))
	require.Equal(t, []string{
		`server.addr: "nowhere" is not an address; want host:port, such as 127.0.0.1:8080 or :8080`,
	}, problemsOf(t, err), "the file is not to blame")
}

func TestContractIsRelativeToTheFile(t *testing.T) {
	t.Parallel()
	for contract, want := range map[string]string{
		"c.yaml": "/etc/onejob/c.yaml", "../c.yaml": "/etc/c.yaml", "/c.yaml": "/c.yaml",
	} {
		data := strings.Replace(string(small("")), "[a]", "[a], contract: "+contract, 1)
		c, err := Parse("/etc/onejob/onejob.yaml", []byte(data), nil, complete)
		require.NoError(t, err)
		require.Equal(t, want, c.Routes["r"].Contract)
	}
}

func TestLoad(t *testing.T) {
	t.Setenv("ONEJOB_TEST_PORT", "1234")
	name := t.TempDir() + "/onejob.yaml"
	require.NoError(t, os.WriteFile(name, small(`server: {addr: "127.0.0.1:${ONEJOB_TEST_PORT}"}`), 0o600))
	c, err := Load(name)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:1234", c.Server.Addr)

	_, err = Load(name + ".gone")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDemo(t *testing.T) {
	t.Parallel()
	c, err := Demo(WithRedisURL("redis://127.0.0.1:7/0"))
	require.NoError(t, err)
	printer := Provider{Type: "simulated", Timeout: 2 * time.Second, Deadline: 10 * time.Second, Concurrency: 10}
	require.Equal(t, map[string]Provider{"inkjet": printer, "laser": printer}, c.Providers)
	require.Equal(t, []string{"inkjet", "laser"}, c.Routes["print"].Providers)
	require.Equal(t, FailoverUntested, c.Routes["print"].Failover)
	require.Equal(t, "redis://127.0.0.1:7/0", c.Redis.URL)
}

func TestValidateInCode(t *testing.T) {
	t.Parallel()
	c := &Config{
		Providers: map[string]Provider{
			"a": {Type: "simulated", Timeout: time.Hour, Concurrency: -1},
			"b": {Type: "mine", URL: "ftp://x"},
		},
		Routes: map[string]Route{"r": {Providers: []string{"a", "c"}, Tries: -1}},
	}
	c.SetDefaults()
	require.Equal(t, []string{
		"providers.a.timeout: 1h is longer than the deadline (1m); want timeout ≤ deadline",
		"providers.a.concurrency: -1 is out of range; want a number from 1 to 10000",
		"providers.b.url: is not an absolute http or https URL; want http://host[:port]/path",
		`routes.r.providers[1]: "c" is not a provider; allowed: a, b`,
		"routes.r.tries: -1 is out of range; want a number from 1 to 10000",
		"routes.r.max_attempts: -2 is out of range; want a number from 1 to 10000",
	}, problemsOf(t, c.Validate(WithTypes("mine"))))
}
