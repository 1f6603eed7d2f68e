package roster_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
	"onejob/roster"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func process(id string, kind roster.Kind, host string) roster.Process {
	return roster.Process{ID: id, Kind: kind, Host: host, PID: 7, Version: "v1", Started: began, Seen: began.Add(time.Minute)}
}

func TestRoster_GivesBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		r := roster.Roster{Redis: rdb}
		empty, err := r.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, empty)

		worker := process("proc_2", roster.KindWorker, "b")
		worker.Rewinds = 3
		worker.Addr, worker.AdminAddr = "127.0.0.1:8080", "127.0.0.1:9090"
		worker.Sweeper = &roster.Sweeper{LastSweep: began, LagMS: 1200, Overdue: 4}
		worker.Providers = []roster.Provider{{
			Name: "gpt", Type: "openai", Model: "m", Breaker: "half-open", InFlight: 2, Concurrency: 10,
			Calls: 6, Succeeded: 3, Failed: 2, Unknown: 1, P50MS: 40, P95MS: 900,
			LastError: &roster.LastError{Reason: "timeout", At: began},
		}}
		api := process("proc_9", roster.KindAPI, "z")
		for _, p := range []roster.Process{worker, process("proc_1", roster.KindWorker, "b"), api, process("proc_3", roster.KindWorker, "a")} {
			require.NoError(t, r.Write(t.Context(), p))
		}
		found, err := r.List(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 4)
		require.Equal(t, api, found[0])
		require.Equal(t, []string{"proc_9", "proc_3", "proc_1", "proc_2"}, ids(found))
		require.Equal(t, worker, found[3])

		require.NoError(t, r.Remove(t.Context(), "proc_2"))
		found, err = r.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"proc_9", "proc_3", "proc_1"}, ids(found))
	})
}

func ids(processes []roster.Process) []string {
	names := make([]string, len(processes))
	for i, p := range processes {
		names[i] = p.ID
	}
	return names
}

// A process that was killed leaves a record that runs out, and an id that the next
// writers sweep out of the index.
func TestRoster_ForgetsTheKilled(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		r := roster.Roster{Redis: rdb}
		require.NoError(t, r.Write(t.Context(), process("proc_1", roster.KindAPI, "a")))
		left, err := rdb.TTL(t.Context(), "oj:process:proc_1").Result()
		require.NoError(t, err)
		require.Greater(t, left, 3*roster.DefaultEvery, "one record that is late is no reason to be off the list")
		require.LessOrEqual(t, left, 30*time.Second)

		require.NoError(t, rdb.Del(t.Context(), "oj:process:proc_1").Err())
		found, err := r.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, found)

		later := process("proc_2", roster.KindAPI, "a")
		later.Seen = later.Seen.Add(2 * time.Hour)
		require.NoError(t, r.Write(t.Context(), later))
		index, err := rdb.ZRange(t.Context(), "oj:processes", 0, -1).Result()
		require.NoError(t, err)
		require.Equal(t, []string{"proc_2"}, index)
	})
}

// A record of another version, or no record at all, hides no other.
func TestRoster_LeavesOutWhatItCannotRead(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	r := roster.Roster{Redis: rdb}
	require.NoError(t, r.Write(t.Context(), process("proc_1", roster.KindAPI, "a")))
	require.NoError(t, rdb.Set(t.Context(), "oj:process:proc_0", `{"id":7}`, 0).Err())
	require.NoError(t, rdb.ZAdd(t.Context(), "oj:processes", redis.Z{Score: 1, Member: "proc_0"}).Err())
	found, err := r.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"proc_1"}, ids(found))
}

func TestRoster_SaysThatTheStoreIsAway(t *testing.T) {
	t.Parallel()
	r := roster.Roster{Redis: away(t)}
	_, err := r.List(t.Context())
	require.ErrorContains(t, err, "listing processes")
	require.ErrorContains(t, r.Write(t.Context(), process("proc_1", roster.KindAPI, "a")), "writing the record of process proc_1")
	require.ErrorContains(t, r.Remove(t.Context(), "proc_1"), "removing the record of process proc_1")
}

// away is a store that cannot be reached.
func away(t *testing.T) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func TestNewID(t *testing.T) {
	t.Parallel()
	require.True(t, strings.HasPrefix(roster.NewID(), "proc_"))
	one, other := roster.NewID(), roster.NewID()
	require.NotEqual(t, one, other)
}

func TestKind_Works(t *testing.T) {
	t.Parallel()
	require.False(t, roster.KindAPI.Works())
	for _, kind := range []roster.Kind{roster.KindWorker, roster.KindServe, roster.KindDev} {
		require.True(t, kind.Works(), kind)
	}
}

// One record is one round trip.
func TestRoster_WritesInOneRoundTrip(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	require.NoError(t, rdb.Ping(t.Context()).Err()) // connects
	seen := &trips{}
	rdb.AddHook(seen)
	require.NoError(t, roster.Roster{Redis: rdb}.Write(t.Context(), process("proc_1", roster.KindAPI, "a")))
	made := slices.DeleteFunc(seen.all, func(trip string) bool {
		return trip == "hello" || strings.HasPrefix(trip, "client ") // of a new connection
	})
	require.Equal(t, []string{"set zadd zremrangebyscore"}, made)
}

// trips are the round trips of a client, each with its commands.
type trips struct{ all []string }

func (h *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.all = append(h.all, cmd.Name())
		return next(ctx, cmd)
	}
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		names := make([]string, len(cmds))
		for i, cmd := range cmds {
			names[i] = cmd.Name()
		}
		h.all = append(h.all, strings.Join(names, " "))
		return next(ctx, cmds)
	}
}
