package api_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// A job that a newer onejob wrote is refused whole and by name, and the rest goes on.
func TestRecordNewer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.submit("k1", printBody).is(http.StatusAccepted)
	older := b.submit("k2", printBody).job()
	keys, err := b.rdb.Keys(t.Context(), "*:job:"+older.ID).Result()
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.NoError(t, b.rdb.HSet(t.Context(), keys[0], "v", jobs.Schema+1).Err())

	for _, answer := range []*reply{
		b.submit("k2", printBody), b.get(devKey, "/v1/jobs/"+older.ID), b.get(devKey, "/v1/jobs/"+older.ID+"/events"),
		b.post(devKey, "/v1/jobs/"+older.ID+"/cancel", ""), b.post(devKey, "/v1/jobs/"+older.ID+"/attempts", ""),
		b.post(operatorKey, "/v1/jobs/"+older.ID+"/attempts/1/resolve", `{"outcome":"failed","reason":"r"}`),
	} {
		p := answer.problem(http.StatusServiceUnavailable, "record-newer")
		require.Contains(t, p.Detail, "schema "+strconv.Itoa(jobs.Schema+1))
		require.Equal(t, "5", answer.header.Get("Retry-After"))
		require.Empty(t, answer.header.Get("X-Should-Retry"))
	}
	b.submit("k2", `{"route":"print","input":{"page":2}}`).problem(http.StatusConflict, "idempotency-key-reused")
	listed := b.get(devKey, "/v1/jobs")
	require.Contains(t, string(listed.body), `"newer":1`)
	require.Contains(t, string(listed.body), `"k1"`)
	require.NotContains(t, string(listed.body), `"k2"`)
}
