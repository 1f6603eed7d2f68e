package jobs_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// BenchmarkScripts tells what one call of each verb costs Redis, by its own
// account, on the way of a job that succeeds at once.
func BenchmarkScripts(b *testing.B) {
	rdb := redistest.Real(b)
	store := jobs.NewStore(rdb, jobs.Options{})
	input := json.RawMessage(`{"text":"` + strings.Repeat("x", 450) + `"}`)
	var claims []*jobs.Claim
	measure(b, rdb, "submit", func(i int) {
		_, err := store.Submit(b.Context(), jobs.Submission{
			Owner: "dev", Key: strconv.Itoa(i), Fingerprint: "v1:" + strings.Repeat("x", 43), Route: "print", Provider: "inkjet", Input: input,
		})
		require.NoError(b, err)
	})
	ids := make([]string, 0, b.N)
	require.NoError(b, store.EachJob(b.Context(), func(id string) error { ids = append(ids, id); return nil }))
	measure(b, rdb, "claim", func(i int) {
		c, err := store.Claim(b.Context(), jobs.ClaimRequest{
			JobID: ids[i], Attempt: 1, Token: jobs.NewOp(), Provider: "inkjet", Deadline: time.Minute, Actor: "worker",
		})
		require.NoError(b, err)
		claims = append(claims, c)
	})
	measure(b, rdb, "finalize", func(i int) {
		r, err := store.Finalize(b.Context(), jobs.Ending{
			JobID: ids[i], Attempt: 1, Fence: claims[i].Fence, Effect: "done", SentAgo: time.Millisecond, Actor: "worker",
			Evidence: json.RawMessage(`{"sent_at":"2026-11-30T04:00:00.000Z","bytes_sent":600,"bytes_received":100,"status":200}`),
		}, input, nil)
		require.NoError(b, err)
		require.Empty(b, r.Late)
	})
	measure(b, rdb, "get", func(i int) {
		_, err := store.Get(b.Context(), ids[i])
		require.NoError(b, err)
	})
	memory, err := rdb.Info(b.Context(), "memory").Result()
	require.NoError(b, err)
	_, rest, _ := strings.Cut(memory, "used_memory:")
	used, _, _ := strings.Cut(rest, "\r")
	n, _ := strconv.Atoi(used)
	b.ReportMetric(float64(n)/float64(b.N)-2*460, "B/job")
}

func measure(b *testing.B, rdb *redis.Client, name string, each func(i int)) {
	b.Helper()
	require.NoError(b, rdb.ConfigResetStat(b.Context()).Err())
	cpu := cpuOf(b, rdb)
	for i := range b.N {
		each(i)
	}
	stats, err := rdb.Info(b.Context(), "commandstats").Result()
	require.NoError(b, err)
	var n float64
	for _, kind := range []string{"cmdstat_evalsha:", "cmdstat_fcall:"} {
		_, rest, found := strings.Cut(stats, kind)
		if !found {
			continue
		}
		_, rest, _ = strings.Cut(rest, "usec=")
		usec, _, _ := strings.Cut(rest, ",")
		one, err := strconv.ParseFloat(usec, 64)
		require.NoError(b, err, stats)
		n += one
	}
	require.NotZero(b, n, stats)
	b.ReportMetric(n/float64(b.N), name+"-µs")
	b.ReportMetric((cpuOf(b, rdb)-cpu)*1e6/float64(b.N), name+"-cpu-µs")
}

// cpuOf is the processor time of the server, in seconds.
func cpuOf(b *testing.B, rdb *redis.Client) (sum float64) {
	b.Helper()
	text, err := rdb.Info(b.Context(), "cpu").Result()
	require.NoError(b, err)
	for _, name := range []string{"used_cpu_user:", "used_cpu_sys:"} {
		_, rest, _ := strings.Cut(text, name)
		value, _, _ := strings.Cut(rest, "\r")
		seconds, err := strconv.ParseFloat(value, 64)
		require.NoError(b, err)
		sum += seconds
	}
	return sum
}
