package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What only follows from a mistake is not reported beside it: the value that
// could not be read is not judged by its default.
func TestWhatFollowsIsNotReported(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ providers, route, more, want string }{
		"retention": {more: "retention: {job: x, key: 1h}", want: "retention.job: "},
		"beat":      {more: "lease: 3s\nbeat: x", want: "beat: "},
		"deadline of timeout": {
			providers: "a: {type: simulated, timeout: 5m, deadline: x}", want: "providers.a.deadline: ",
		},
		"deadline of settling": {
			providers: "a: {type: simulated, settles_after: 20s, deadline: x}", want: "providers.a.deadline: ",
		},
		"lease of settling": {
			providers: "a: {type: simulated, timeout: 1s, deadline: 2s, settles_after: 3s}", more: "lease: x", want: "lease: ",
		},
		"base_url": {
			providers: "a: {type: openai, model: m, base_url: 5}", want: "providers.a.base_url: ",
		},
		"type not yet": {providers: "a: {type: anthropic}", want: "providers.a.type: "},
		"effects": {
			providers: "a: {type: simulated}, b: {type: simulated}",
			route:     "providers: [a, b], race: {after: 1s}, effects: nothing", want: "routes.r.effects: ",
		},
		"unknown twice": {route: "providers: [a, b, b]", want: "routes.r.providers[1]: "},
		"backoff":       {route: "providers: [a], backoff: {initial: x, max: 500ms}", want: "routes.r.backoff.initial: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.providers == "" {
				test.providers = "a: {type: simulated}"
			}
			if test.route == "" {
				test.route = "providers: [a]"
			}
			data := "providers: {" + test.providers + "}\nroutes: {r: {" + test.route + "}}\n" + test.more
			_, err := Parse("x.yaml", []byte(data), nil, func(s *settings) {
				s.notYet = []later{{"providers.*.type", TypeAnthropic, "anthropic"}}
			})
			got := problemsOf(t, err)
			require.Len(t, got, 1)
			require.Contains(t, got[0], " "+test.want)
		})
	}
}

func TestWhatDoesNotFollowIsReported(t *testing.T) {
	t.Parallel()
	_, err := Parse("x.yaml", []byte(`
providers: {a: {type: http, url: "ftp://x", ulr: y}}
routes: {r: {providers: [a]}}
`), nil)
	require.Len(t, problemsOf(t, err), 2, "url is there: its mistake is one of its own")

	_, err = Parse("x.yaml", []byte("providers: []\nroutes: {r: {providers: [a]}}\n"), nil)
	require.Equal(t, []string{"x.yaml:1: providers: is a list; want a mapping"}, problemsOf(t, err))
}

func TestCustomTypes(t *testing.T) {
	t.Parallel()
	data := []byte(`
providers:
  a: {type: mine, url: "http://h/", api: chat, api_key: k, model: m, options: {model: x}, headers: {A: b}}
routes: {r: {providers: [a]}}
`)
	c, err := Parse("x.yaml", data, nil, WithTypes("mine"))
	require.NoError(t, err, "what it takes only its own code can say")
	c.Providers["a"] = Provider{Type: "mine", API: "other", Timeout: 1e9, Deadline: 1e9, Concurrency: 1}
	require.NoError(t, c.Validate(WithTypes("mine")))

	_, err = Parse("x.yaml", []byte("providers: {a: {type: http}}\nroutes: {r: {providers: [a]}}\n"), nil, WithTypes("http"))
	requireOne(t, "providers.a.url: missing; a provider of type http needs it", err)
}

// A Config built in code can hold what no file can.
func TestValuesOnlyCodeCanHold(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Config)
		want   string
	}{
		"drain":         {func(c *Config) { c.Drain = -1 }, "drain"},
		"lease":         {func(c *Config) { c.Lease, c.Beat = 20*365*24*time.Hour, time.Second }, "lease"},
		"beat":          {func(c *Config) { c.Beat = 1 }, "beat"},
		"door_wait":     {func(c *Config) { c.Server.DoorWait = -1 }, "server.door_wait"},
		"connections":   {func(c *Config) { c.Server.MaxConnections = -1 }, "server.max_connections"},
		"retention.job": {func(c *Config) { c.Retention.Job = -1 }, "retention.job"},
		"retention.key": {func(c *Config) { c.Retention.Job, c.Retention.Key = time.Hour, 20*365*24*time.Hour }, "retention.key"},
		"durability":    {func(c *Config) { c.Redis.Durability = "some" }, "redis.durability"},
		"replicas":      {func(c *Config) { c.Redis.WaitReplicas = -1 }, "redis.wait_replicas"},
		"timeout":       {func(c *Config) { c.provider(func(p *Provider) { p.Timeout = -1 }) }, "providers.a.timeout"},
		"deadline":      {func(c *Config) { c.provider(func(p *Provider) { p.Deadline = 20 * 365 * 24 * time.Hour }) }, "providers.a.deadline"},
		"settles_after": {func(c *Config) { c.provider(func(p *Provider) { p.SettlesAfter = 20 * 365 * 24 * time.Hour }) }, "providers.a.settles_after"},
		"window": {func(c *Config) {
			c.provider(func(p *Provider) { p.IdempotentCreate = &IdempotentCreate{Window: -1} })
		}, "providers.a.idempotent_create.window"},
		"initial":  {func(c *Config) { c.route(func(r *Route) { r.Backoff.Initial = -1 }) }, "routes.r.backoff.initial"},
		"max":      {func(c *Config) { c.route(func(r *Route) { r.Backoff.Max = 20 * 365 * 24 * time.Hour }) }, "routes.r.backoff.max"},
		"param":    {func(c *Config) { c.route(func(r *Route) { r.Params = []string{""} }) }, "routes.r.params[0]"},
		"failover": {func(c *Config) { c.route(func(r *Route) { r.Failover = "x" }) }, "routes.r.failover"},
		"race": {func(c *Config) {
			c.Providers["b"] = c.Providers["a"]
			c.route(func(r *Route) {
				r.Providers, r.Effects, r.Race = []string{"a", "b"}, EffectsNone, &Race{After: -1}
			})
		}, "routes.r.race.after"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Parse("x.yaml", small(""), nil)
			require.NoError(t, err)
			test.change(c)
			got := problemsOf(t, c.Validate())
			require.Len(t, got, 1)
			require.Contains(t, got[0], test.want+": ")
		})
	}
}

func (c *Config) provider(change func(*Provider)) {
	p := c.Providers["a"]
	change(&p)
	c.Providers["a"] = p
}

func (c *Config) route(change func(*Route)) {
	r := c.Routes["r"]
	change(&r)
	c.Routes["r"] = r
}
