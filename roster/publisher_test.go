package roster_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/logtest"
	"onejob/redistest"
	"onejob/roster"
)

const patience = 10 * time.Second

func TestPublisher_WritesAgainAndAgain_AndRemovesAtTheEnd(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	r := roster.Roster{Redis: rdb}
	described := make(chan struct{}, 100)
	p := &roster.Publisher{Roster: r, Every: time.Millisecond, Describe: func() roster.Process {
		described <- struct{}{}
		return process("proc_1", roster.KindWorker, "a")
	}}
	stop := run(t, p)
	for range 3 {
		receive(t, described)
	}
	require.Eventually(t, func() bool {
		found, err := r.List(t.Context())
		return err == nil && len(found) == 1 && time.Since(found[0].Seen) < patience
	}, patience, time.Millisecond)
	stop()
	found, err := r.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	require.Zero(t, rdb.Exists(t.Context(), "oj:process:proc_1", "oj:processes").Val())
}

// A store that is away holds up nobody, and is told of once.
func TestPublisher_AStoreThatIsAway(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	var log logtest.Buffer
	described := make(chan struct{}, 1000)
	p := &roster.Publisher{
		Roster: roster.Roster{Redis: rdb}, Every: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Describe: func() roster.Process { described <- struct{}{}; return process("proc_1", roster.KindWorker, "a") },
	}
	server.SetError("LOADING")
	stop := run(t, p)
	for range 5 {
		receive(t, described)
	}
	server.SetError("")
	require.Eventually(t, func() bool { return log.Count("again") == 1 }, patience, time.Millisecond)
	stop()
	require.Equal(t, 1, log.Count("for now"), log.String())
}

// It ends in time even if the store never answers.
func TestPublisher_EndsThoughTheStoreIsGone(t *testing.T) {
	t.Parallel()
	p := &roster.Publisher{
		Roster:   roster.Roster{Redis: away(t)},
		Describe: func() roster.Process { return process("proc_1", roster.KindWorker, "a") },
	}
	run(t, p)()
}

// run starts a publisher; the returned function ends it and waits.
func run(t *testing.T, p *roster.Publisher) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		receive(t, done)
	}
}

func receive(t *testing.T, from <-chan struct{}) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
	}
}
