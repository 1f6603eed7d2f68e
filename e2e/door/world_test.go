package door

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/config"
	"onejob/jobs"
)

// world is a process of onejob between two counters.
type world struct {
	t        *testing.T
	provider *provider
	direct   string // the process itself
	base     string // the door, through the counter
	http     *http.Client

	mu   sync.Mutex
	seen []string // X-Stainless-Retry-Count of every call of the door
}

// configuration has a route to a patient provider and one to a hasty one.
const configuration = `
drain: 1s
server: {door_wait: %s}
providers:
  gpt: {type: openai, base_url: "%s/v1", api_key: none, model: gpt-5, timeout: 20s, deadline: 40s}
  hasty: {type: openai, base_url: "%s/v1", api_key: none, model: gpt-5, timeout: 300ms, deadline: 600ms}
routes:
  chat: {providers: [gpt], params: [tools]}
  hasty: {providers: [hasty]}
`

func newWorld(t *testing.T, doorWait string) *world {
	t.Helper()
	w := &world{t: t, provider: newProvider(t)}
	cfg, err := config.Parse("door.yaml", fmt.Appendf(nil, configuration, doorWait, w.provider.url, w.provider.url), nil,
		config.WithAddr("127.0.0.1:0"))
	require.NoError(t, err)
	process := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithEmbeddedRedis(), app.WithDevKeys())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	require.NoError(t, process.Start(ctx))
	t.Cleanup(func() { require.NoError(t, process.Close()) })
	w.direct = "http://" + process.Addr()
	w.countInFront()
	return w
}

// countInFront puts a proxy before the door that passes everything on.
func (w *world) countInFront() {
	w.t.Helper()
	target, err := url.Parse(w.direct)
	require.NoError(w.t, err)
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Transport:    transport,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(rw http.ResponseWriter, _ *http.Request, _ error) { rw.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r.Header.Get("X-Stainless-Retry-Count"))
		w.mu.Unlock()
		proxy.ServeHTTP(rw, r)
	}))
	w.base = server.URL + "/openai/v1"
	w.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	w.t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
}

// retries takes the retry counts of the calls so far.
func (w *world) retries() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

// only is the one job of that key.
func (w *world) only(key string) jobs.Job {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.direct+"/v1/jobs?idempotency_key="+key, nil)
	require.NoError(w.t, err)
	r.Header.Set("Authorization", "Bearer dev-key")
	response, err := w.http.Do(r)
	require.NoError(w.t, err)
	defer func() { _ = response.Body.Close() }()
	var page struct{ Data []jobs.Job }
	require.NoError(w.t, json.NewDecoder(response.Body).Decode(&page))
	require.Len(w.t, page.Data, 1)
	return page.Data[0]
}

// once checks that all the calls under a key were one job, one attempt and one
// create, which came to a good end.
func (w *world) once(key, text string) {
	w.t.Helper()
	job := w.only(key)
	require.Equal(w.t, jobs.Succeeded, job.State)
	require.Len(w.t, job.Attempts, 1)
	require.Equal(w.t, 1, w.provider.asked(text))
}
