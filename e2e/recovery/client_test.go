package recovery_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/auth"
	"onejob/jobs"
)

// call makes one request; an error means that nobody answered.
func (w *world) call(method, url, key, idempotencyKey, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(w.ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, raw, err
}

func (w *world) get(url string) (int, []byte, error) {
	return w.call(http.MethodGet, url, auth.DevOperatorKey, "", "")
}

// post tries once to submit what a provider is to do.
func (w *world) post(key, do string, more ...string) (int, []byte, error) {
	body := fmt.Sprintf(`{"route":"print","input":{"do":%s}%s}`, do, strings.Join(more, ""))
	return w.call(http.MethodPost, "http://"+w.api+"/v1/jobs", auth.DevKey, key, body)
}

// submit submits until it is acknowledged, as a caller with a key can.
func (w *world) submit(key, do string, more ...string) string {
	w.t.Helper()
	var id string
	within(w.t, 60*time.Second, "submitting "+key, func() bool {
		status, raw, err := w.post(key, do, more...)
		if err != nil || status >= 500 {
			return false
		}
		require.Contains(w.t, []int{200, 202}, status, "%s", raw)
		id = jobIn(w, raw).ID
		return true
	})
	if before, ok := w.jobs[key]; ok {
		require.Equal(w.t, before, id, "one key, one job (I7)")
	}
	w.jobs[key] = id
	return id
}

// submitMany submits n jobs that all do the same.
func (w *world) submitMany(n int, do string) {
	w.t.Helper()
	for i := range n {
		w.submit(fmt.Sprintf("key-%d", i), do)
	}
}

func jobIn(w *world, raw []byte) *jobs.Job {
	w.t.Helper()
	var job jobs.Job
	require.NoError(w.t, json.Unmarshal(raw, &job), "%s", raw)
	return &job
}

// ask makes an operator's call on a job and wants it to work.
func (w *world) ask(id, path, body string) *jobs.Job {
	w.t.Helper()
	status, raw, err := w.call(http.MethodPost, "http://"+w.api+"/v1/jobs/"+id+path, auth.DevOperatorKey, "", body)
	require.NoError(w.t, err)
	require.Less(w.t, status, 300, "%s", raw)
	return jobIn(w, raw)
}

// job reads a job from the store, so that it can be read when no API is up.
func (w *world) job(id string) *jobs.Job {
	w.t.Helper()
	job, err := w.store.Get(w.ctx, id)
	require.NoError(w.t, err)
	return job
}

// await waits until a job is as wanted.
func (w *world) await(id, what string, limit time.Duration, ok func(*jobs.Job) bool) *jobs.Job {
	w.t.Helper()
	var last *jobs.Job
	within(w.t, limit, what, func() bool {
		job, err := w.store.Get(w.ctx, id)
		if err == nil {
			last = job
		}
		return err == nil && ok(job)
	})
	return last
}

func (w *world) awaitState(id string, state jobs.State) *jobs.Job {
	w.t.Helper()
	return w.await(id, "job is "+string(state), 60*time.Second, func(j *jobs.Job) bool { return j.State == state })
}

// verbs are the words of a job's trail, in order.
func (w *world) verbs(id string) []string {
	w.t.Helper()
	events, err := w.store.Events(w.ctx, id, "", 1000)
	require.NoError(w.t, err)
	words := make([]string, len(events))
	for i, e := range events {
		words[i] = e.Verb
	}
	return words
}

// attemptID is the id of an attempt as the provider knows it.
func attemptID(id string, n int) string { return jobs.AttemptID(id, n) }
