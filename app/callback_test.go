package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/config"
	"onejob/jobs"
)

// printer takes work on with 202 and reports later, when told to.
type printer struct {
	*httptest.Server
	creates   atomic.Int64
	callbacks chan string
}

func newPrinter(t *testing.T) *printer {
	p := &printer{callbacks: make(chan string, 10)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			CallbackURL string `json:"callback_url"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		p.creates.Add(1)
		w.WriteHeader(http.StatusAccepted)
		p.callbacks <- body.CallbackURL
	}))
	t.Cleanup(p.Close)
	return p
}

func report(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var answer map[string]any
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	return response.StatusCode, answer
}

func startWithCallback(t *testing.T, p *printer) *app.App {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	cfg, err := config.Parse("test", fmt.Appendf(nil, `
server: {addr: %q, public_url: "http://%s"}
drain: 1s
providers:
  laser: {type: http, url: %q, callback: true, timeout: 5s, deadline: 20s}
routes:
  print: {providers: [laser]}
`, addr, addr, p.URL), nil)
	require.NoError(t, err)
	a := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithEmbeddedRedis(), app.WithDevKeys())
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		require.NoError(t, a.Close())
	})
	return a
}

func submitJob(t *testing.T, a *app.App, key string, wait int) jobs.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.Addr()+"/v1/jobs",
		bytes.NewReader([]byte(`{"route":"print","input":{"page":1}}`)))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer dev-key")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Prefer", fmt.Sprintf("wait=%d", wait))
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Less(t, response.StatusCode, 300)
	var job jobs.Job
	require.NoError(t, json.NewDecoder(response.Body).Decode(&job))
	return job
}

func TestCallback_SettlesWhatTheProviderTookOn(t *testing.T) {
	t.Parallel()
	p := newPrinter(t)
	a := startWithCallback(t, p)

	submitJob(t, a, "k", 0)
	url := <-p.callbacks
	require.Contains(t, url, "/v1/callbacks/")

	status, problem := report(t, url, `{"status":"perhaps"}`)
	require.Equal(t, http.StatusBadRequest, status, problem)
	status, _ = report(t, url+"x", `{"status":"succeeded","result":{"sheets":9}}`)
	require.Equal(t, http.StatusNotFound, status)

	status, said := report(t, url, `{"status":"succeeded","result":{"sheets":1}}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "succeeded", said["state"])

	job := submitJob(t, a, "k", 10)
	require.Equal(t, jobs.Succeeded, job.State)
	require.JSONEq(t, `{"sheets":1}`, string(job.Result))
	require.Equal(t, int64(1), p.creates.Load())

	status, said = report(t, url, `{"status":"succeeded","result":{"sheets":2}}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "attempt_succeeded", said["late"], "a second report is late, and the provider is told")
	job = submitJob(t, a, "k", 0)
	require.JSONEq(t, `{"sheets":1}`, string(job.Result))
	require.Equal(t, int64(len(`{"sheets":2}`)), job.Attempts[0].LateResult.Bytes)
}
