package versions_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// TestVersions_RolledOverEachOther: two APIs and two workers are replaced one by one
// by those of the next version, under load; the deployment is told to record jobs with
// the next schema; half of it is rolled back, though jobs of that schema are under way;
// then, as the book says, all of it. Nothing is lost, nothing is called twice, every
// job succeeds at its first attempt.
func TestVersions_RolledOverEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	apis := []*process{w.run(older, "api"), w.run(older, "api")}
	workers := []*process{w.run(older, "worker"), w.run(older, "worker")}
	l := w.begin(apis...)
	l.flow(20)

	// Forwards, workers first. Nobody writes what somebody there cannot read.
	replace := func(v version, command string, of []*process, i int) {
		t.Helper()
		fresh := w.run(v, command)
		old := of[i]
		of[i] = fresh
		l.use(apis...)
		w.stop(old)
		l.flow(20)
	}
	replace(newer, "worker", workers, 0)
	replace(newer, "api", apis, 0)
	out, ok := w.tool(newer, "schema", "set", "2")
	require.False(t, ok, out)
	require.Contains(t, out, "2 processes cannot read schema 2")
	require.Equal(t, []string{"1"}, w.schemas())
	replace(newer, "worker", workers, 1)
	replace(newer, "api", apis, 1)

	// Told otherwise, they do.
	w.setSchema(newer, 2)
	w.within(time.Minute, "jobs are recorded with schema 2", func() bool { return len(w.schemas()) == 2 })
	l.flow(40)

	// Half-way back, the wrong way round: jobs are still recorded with schema 2.
	replace(older, "worker", workers, 0)
	replace(older, "api", apis, 0)
	w.refuses(apis[0], l)
	w.within(2*time.Minute, "the older worker meets what it cannot read", func() bool {
		return strings.Contains(workers[0].said(), "left to a newer onejob")
	})
	l.flow(40)
	require.Positive(t, l.newer.Load(), "an older API was asked about a newer job")

	// And back, the right way: first no more of schema 2.
	w.setSchema(newer, 1)
	ids := l.end()
	w.finished(apis[1], ids)
	w.clean(newer, 0)
	w.clean(older, w.count("2"))
	w.stop(workers[1])
	w.stop(apis[1])
	after := w.begin(apis[0])
	after.next.Store(1_000_000) // other keys
	after.flow(20)
	again := after.end()
	w.finished(apis[0], again)
	maps.Copy(ids, again)
	w.once(ids)
	t.Logf("%d jobs, %d of them of schema 2; record-newer was answered %d times", len(ids), w.count("2"), l.newer.Load())
}

func (w *world) setSchema(v version, n int) {
	w.t.Helper()
	out, ok := w.tool(v, "schema", "set", fmt.Sprint(n))
	require.True(w.t, ok, out)
}

// schemas are those of which there are records.
func (w *world) schemas() []string {
	var found []string
	counts, err := w.store.Schemas(w.ctx)
	if err != nil {
		return nil
	}
	for _, schema := range []string{"1", "2"} {
		if counts[schema] > 0 {
			found = append(found, schema)
		}
	}
	return found
}

func (w *world) count(schema string) int {
	w.t.Helper()
	counts, err := w.store.Schemas(w.ctx)
	w.must(err)
	return counts[schema]
}

// refuses: an older API says of a newer job what it is, in every call about it, and
// goes on.
func (w *world) refuses(api *process, l *load) {
	w.t.Helper()
	id := w.newerJob()
	for _, call := range [][2]string{
		{http.MethodGet, "/v1/jobs/" + id},
		{http.MethodPost, "/v1/jobs/" + id + "/cancel"},
		{http.MethodPost, "/v1/jobs/" + id + "/attempts"},
		{http.MethodGet, "/v1/jobs/" + id + "/events"},
	} {
		status, raw, err := w.call(call[0], api.addr, call[1], "", "")
		w.must(err)
		require.Equal(w.t, http.StatusServiceUnavailable, status, "%s: %s", call, raw)
		require.Contains(w.t, string(raw), "/problems/record-newer", call)
	}
	status, raw, err := w.call(http.MethodGet, api.addr, "/v1/jobs?limit=100", "", "")
	w.must(err)
	require.Equal(w.t, http.StatusOK, status, "%s", raw)
	var page struct{ Newer int }
	w.must(json.Unmarshal(raw, &page))
	require.Positive(w.t, page.Newer)
	status, raw, err = w.call(http.MethodGet, api.addr, "/readyz", "", "")
	w.must(err)
	require.Equal(w.t, http.StatusOK, status)
	require.Contains(w.t, string(raw), "newer_schema")
	l.flow(1)
}

// newerJob finds a job of schema 2.
func (w *world) newerJob() string {
	w.t.Helper()
	var found string
	w.must(w.store.EachJob(w.ctx, func(id string) error {
		if _, err := w.store.Get(w.ctx, id); err != nil {
			found = id
		}
		return nil
	}))
	require.NotEmpty(w.t, found)
	return found
}

// finished: every job succeeds, at its first attempt, and nobody was in doubt.
func (w *world) finished(api *process, ids map[string]string) {
	w.t.Helper()
	for key, id := range ids {
		var job jobs.Job
		w.within(2*time.Minute, key+" has ended", func() bool {
			status, raw, err := w.call(http.MethodGet, api.addr, "/v1/jobs/"+id, "", "")
			return err == nil && status == http.StatusOK && json.Unmarshal(raw, &job) == nil && job.State.Ended()
		})
		require.Equal(w.t, jobs.Succeeded, job.State, key)
		require.Len(w.t, job.Attempts, 1, key)
		require.True(w.t, job.Attempts[0].UnknownAt.IsZero(), key)
	}
}

// once: the provider was called for every job, once, and for nothing else.
func (w *world) once(ids map[string]string) {
	w.t.Helper()
	calls := w.calls()
	for key, id := range ids {
		require.Equal(w.t, 1, calls[jobs.AttemptID(id, 1)], "calls for %s, job %s", key, id)
	}
	require.Len(w.t, calls, len(ids), "the provider was called for what nobody was told of")
}

// clean: fsck of a version finds nothing, and tells what it could not read.
func (w *world) clean(v version, unread int) {
	w.t.Helper()
	out, ok := w.tool(v, "fsck")
	require.True(w.t, ok, out)
	require.Contains(w.t, out, " 0 findings")
	if unread > 0 {
		require.Contains(w.t, out, fmt.Sprintf("%d jobs were written by a newer onejob", unread))
	} else {
		require.NotContains(w.t, out, "newer onejob")
	}
}
