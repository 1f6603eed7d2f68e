package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/config"
	"onejob/jobs"
	"onejob/redistest"
)

// TestBreaker_LeavesAProviderAlone: after so many failures in a row nothing reaches
// it, and the attempt says that it was not sent.
func TestBreaker_LeavesAProviderAlone(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"error":"out of ink"}`))
	}))
	t.Cleanup(down.Close)
	cfg := parse(t, fmt.Sprintf(`
drain: 1s
providers: {laser: {type: http, url: %q, breaker: {failures: 2, open_for: 1m}}}
routes: {print: {providers: [laser]}}
`, down.URL))
	a := New(cfg, WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, a.Start(ctx))
	defer func() { require.NoError(t, a.Close()) }()

	var job jobs.Job
	for i := range 3 {
		require.NoError(t, json.Unmarshal([]byte(postAs(ctx, t, a.Addr(), fmt.Sprint("k", i), `{"route":"print","input":{}}`)), &job))
		require.Equal(t, jobs.Failed, job.State)
	}
	require.Equal(t, "circuit_open", job.Attempts[0].Reason)
	require.Equal(t, "none", job.Attempts[0].Effect)
	require.Equal(t, int64(2), calls.Load(), "the third was not sent")
}

// TestContract_AResolutionMustPassToo: a person's result is held against the output
// rules of the route, like a provider's.
func TestContract_AResolutionMustPassToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sheets.yaml"), []byte(`
description: sheets
prompts: ["{{page}}"]
require: [schema, round_trip]
defaultTest:
  assert:
    - {type: is-json, value: {type: object, required: [sheets], properties: {sheets: {type: integer}}}}
tests:
  - vars: {page: one}
    assert: [{type: cel, value: "output.sheets > 0"}]
`), 0o600))
	cfg, err := config.Parse(filepath.Join(dir, "onejob.yaml"), []byte(`
drain: 1s
providers: {inkjet: {type: simulated, timeout: 200ms, deadline: 300ms}}
routes: {print: {providers: [inkjet], contract: sheets.yaml}}
`), nil, config.WithAddr("127.0.0.1:0"))
	require.NoError(t, err)
	a := New(cfg, WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, a.Start(ctx))
	defer func() { require.NoError(t, a.Close()) }()

	submitted, err := a.store.Submit(ctx, jobs.Submission{
		Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "inkjet",
		Input: json.RawMessage(`{"page":"one","simulate":{"inkjet":{"outcome":"hang"}}}`),
	})
	require.NoError(t, err)
	for _, w := range submitted.Wakes {
		a.waker.Wake(ctx, w)
	}
	id := submitted.Job.ID
	require.Eventually(t, func() bool {
		job, err := a.store.Get(ctx, id)
		return err == nil && job.State == jobs.Unknown
	}, 20*time.Second, 20*time.Millisecond)

	resolve := func(result string) (int, string) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.Addr()+"/v1/jobs/"+id+"/attempts/1/resolve",
			strings.NewReader(`{"outcome":"succeeded","reason":"I looked","result":`+result+`}`))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer dev-operator-key")
		request.Header.Set("Content-Type", "application/json")
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		var said struct{ Detail string }
		require.NoError(t, json.NewDecoder(response.Body).Decode(&said))
		return response.StatusCode, said.Detail
	}
	status, detail := resolve(`{"sheets":"many"}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, detail, "breaks the output rules of route print")
	status, _ = resolve(`{"sheets":1}`)
	require.Equal(t, http.StatusOK, status)
	job, err := a.store.Get(ctx, id)
	require.NoError(t, err)
	require.Equal(t, jobs.Succeeded, job.State)
}

// TestContract_WorkersVerifyByThemselves: with certificates.reverify a provider is
// certified without a person, and /readyz stops telling of it.
func TestContract_WorkersVerifyByThemselves(t *testing.T) {
	t.Parallel()
	good := newModel(t, http.StatusOK, `{"summary":"Two jams."}`)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.yaml"), []byte(summaries), 0o600))
	store := redistest.Real(t).Options()
	cfg, err := config.Parse(filepath.Join(dir, "onejob.yaml"), fmt.Appendf(nil, `
drain: 1s
redis: {url: "redis://%s/%d"}
certificates: {reverify: 1h}
providers: {second: {type: openai, base_url: %q, model: m, timeout: 5s, deadline: 10s}}
routes: {summary: {providers: [second], contract: summary.yaml}}
`, store.Addr, store.DB, good.URL+"/v1"), nil, config.WithAddr("127.0.0.1:0"))
	require.NoError(t, err)
	a := New(cfg, WithWorker())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, a.Start(ctx))
	defer func() { require.NoError(t, a.Close()) }()
	require.Eventually(t, func() bool {
		ids, err := a.rules.book.Certificates(ctx, "summary")
		return err == nil && ids["second"] != ""
	}, 30*time.Second, 50*time.Millisecond)
	require.Empty(t, a.certificateNotes(ctx))
	expired := func() []string { // as if its time had passed
		keys, err := a.rdb.Keys(ctx, "oj:certificate:*").Result()
		require.NoError(t, err)
		require.NoError(t, a.rdb.Del(ctx, keys...).Err())
		return a.certificateNotes(ctx)
	}()
	require.Len(t, expired, 1)
	require.Contains(t, expired[0], "onejob contract verify --route summary --provider second")
}
