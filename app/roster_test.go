package app

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"onejob/handlers"
	"onejob/jobs"
	"onejob/providers"
	"onejob/redistest"
	"onejob/roster"
)

const twoProviders = `
drain: 1s
providers:
  inkjet: {type: simulated, timeout: 2s, deadline: 5s, concurrency: 3, breaker: {failures: 1, open_for: 1m}}
  laser: {type: http, url: "http://127.0.0.1:1"}
routes: {print: {providers: [inkjet]}}
`

// Every process is on the list with what it does, and off it when it has stopped.
func TestRoster(t *testing.T) {
	t.Parallel()
	cfg := overRedis(t, twoProviders)
	rdb, err := connection{cfg.Redis}.client()
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	list := roster.Roster{Redis: rdb}

	api := New(cfg, WithAPI(), WithDevKeys(), WithVersion("v1"))
	worker := New(cfg, WithWorker(), WithVersion("v2"))
	require.NoError(t, errors.Join(api.Start(t.Context()), worker.Start(t.Context())))
	post(t.Context(), t, api.Addr(), `{"route":"print","input":{"simulate":{"inkjet":{"delay":"5ms"}}}}`)

	var found []roster.Process
	require.Eventually(t, func() bool {
		found, err = list.List(t.Context())
		return err == nil && len(found) == 2 && found[1].Providers[0].Succeeded == 1
	}, 20*time.Second, 50*time.Millisecond)
	host, _ := os.Hostname()
	for i, want := range []roster.Process{{Kind: roster.KindAPI, Version: "v1"}, {Kind: roster.KindWorker, Version: "v2"}} {
		require.Equal(t, []any{want.Kind, want.Version, host, os.Getpid()}, []any{found[i].Kind, found[i].Version, found[i].Host, found[i].PID})
		require.WithinDuration(t, time.Now(), found[i].Started, time.Minute)
		require.WithinDuration(t, time.Now(), found[i].Seen, time.Minute)
		require.False(t, found[i].Draining)
	}
	require.Equal(t, api.Addr(), found[0].Addr)
	require.Nil(t, found[0].Sweeper)
	require.Empty(t, found[0].Providers)

	require.WithinDuration(t, time.Now(), found[1].Sweeper.LastSweep, time.Minute)
	inkjet, laser := found[1].Providers[0], found[1].Providers[1]
	require.Equal(t, []any{"inkjet", "simulated", "closed", 3, 1}, []any{inkjet.Name, inkjet.Type, inkjet.Breaker, inkjet.Concurrency, inkjet.Calls})
	require.Positive(t, inkjet.P95MS)
	require.Equal(t, roster.Provider{Name: "laser", Type: "http", Breaker: "off", Concurrency: 10}, laser)

	// What the others tell shows on every process.
	var text string
	require.Eventually(t, func() bool {
		_, text = page(t, api.Addr(), "/metrics", "")
		return strings.Contains(text, `onejob_queue_workers{queue="laser"} 1`)
	}, 20*time.Second, 50*time.Millisecond)
	requireLine(t, text, `onejob_processes{kind="worker"} 1`)

	require.NoError(t, worker.Close())
	found, err = list.List(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, api.Close())
	found, err = list.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
}

// A call is in flight from its claim to its end, and counted by its outcome; a
// provider's own words get on no list.
func TestRoster_Calls(t *testing.T) {
	t.Parallel()
	cfg := parse(t, twoProviders)
	a := New(cfg, WithWorker())
	a.rdb = redistest.Mini(t)
	var err error
	a.built, err = buildProviders(cfg, a.types, a.guarded(newPauses(a.rdb)))
	require.NoError(t, err)
	a.countWork()
	observe := a.observeCalls()
	inkjet := func() roster.Provider { return a.record().Providers[0] }

	observe.Claimed(handlers.Claimed{Provider: "inkjet", Answer: "not_starting"})
	require.Zero(t, inkjet().InFlight)
	observe.Claimed(handlers.Claimed{Provider: "inkjet", Answer: handlers.AnswerClaimed})
	require.Equal(t, 1, inkjet().InFlight)
	observe.Ended(handlers.Ended{Provider: "inkjet", Outcome: providers.Failed, Reason: "Card 4111 declined!", Took: time.Second, Recorded: true})
	p := inkjet()
	require.Equal(t, []any{0, 1, 1, int64(1000), "other"}, []any{p.InFlight, p.Calls, p.Failed, p.P50MS, p.LastError.Reason})
	for outcome, want := range map[providers.Kind]roster.Outcome{
		providers.Succeeded: roster.Succeeded, providers.Accepted: roster.Succeeded, providers.Failed: roster.Failed, providers.Unknown: roster.Unknown,
	} {
		require.Equal(t, want, tallied(outcome))
	}

	a.breakers["inkjet"] = nil
	require.Equal(t, "off", inkjet().Breaker)
	a.presence.draining.Store(true)
	require.True(t, a.record().Draining)
}

// A census is taken once in a while, and leaves out what it cannot ask.
func TestCensus_AsksSeldomAndFailsSoft(t *testing.T) {
	t.Parallel()
	a := started(t, parse(t, oneProvider), WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys())
	asked := 0
	c := a.census()
	count := c.count
	c.count = func(ctx context.Context) (jobs.Census, error) { asked++; return count(ctx) }
	require.NoError(t, c.look().err)
	require.NoError(t, c.look().err)
	require.Equal(t, 1, asked)

	c = a.census()
	c.count = func(context.Context) (jobs.Census, error) { return jobs.Census{}, errors.New("away") }
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	require.NoError(t, err)
	names := map[string]float64{}
	for _, f := range families {
		names[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
	}
	require.Zero(t, names["onejob_store_census"])
	require.Contains(t, names, "onejob_store_census")
	require.NotContains(t, names, "onejob_jobs")
}

// Who may settle by itself needs nobody, and neither does one that settles_after ends.
func TestCensus_WhoNeedsAPerson(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ago := func(d time.Duration) jobs.Time { return jobs.Time(now.Add(-d).UnixMilli()) }
	c := &census{settles: func(provider string) time.Duration { return map[string]time.Duration{"declared": time.Hour}[provider] }}
	got := map[string]float64{}
	c.collectUnknown(func(d *prometheus.Desc, value float64, _ ...string) { got[d.String()] = value }, []jobs.UnknownAttempt{
		{Provider: "asked", Since: ago(5 * time.Hour), Settling: true},
		{Provider: "silent", Since: ago(2 * time.Hour)},
		{Provider: "declared", Since: ago(50 * time.Minute)},
		{Provider: "silent", Since: ago(time.Minute)},
	}, now)
	require.InDelta(t, 5*3600, got[descUnknownAge.String()], 1)
	require.InDelta(t, 2, got[descPerson.String()], 0)
	require.InDelta(t, 2*3600, got[descPersonAge.String()], 1)
}
