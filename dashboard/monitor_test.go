package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/audit"
	"onejob/auth"
	"onejob/dashboard"
)

type keyring struct{ err error }

func (k keyring) Authenticate(_ context.Context, token string) (auth.Identity, error) {
	role, ok := map[string]auth.Role{"op": auth.Operator, "view": auth.Viewer, "sub": auth.Submit}[token]
	switch {
	case k.err != nil:
		return auth.Identity{}, k.err
	case !ok:
		return auth.Identity{}, fmt.Errorf("%w: unknown", auth.ErrUnauthorized)
	}
	return auth.Identity{Owner: token, Role: role}, nil
}

func (k keyring) Recall(context.Context, string) (auth.Identity, error) {
	return auth.Identity{}, fmt.Errorf("%w: unknown", auth.ErrUnauthorized)
}

// bundle is a monitor over a queue with one archived task. Its refusals are
// answered with their name, which is what the API makes a problem of.
type bundle struct {
	t         *testing.T
	server    *httptest.Server
	inspector *asynq.Inspector
}

func setup(t *testing.T, keys dashboard.Authenticator) *bundle {
	t.Helper()
	m := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	client, inspector := asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)
	_, err := client.Enqueue(asynq.NewTask("wake", []byte(`{"job":"job_1","attempt":1}`)), asynq.TaskID("job_1-a1"), asynq.Queue("inkjet"))
	require.NoError(t, err)
	require.NoError(t, inspector.ArchiveTask("inkjet", "job_1-a1"))

	pages := dashboard.New(dashboard.Config{
		Keys: keys, Redis: rdb, Audit: audit.New(rdb), Monitor: asynq.RedisClientOpt{Addr: m.Addr()},
	})
	monitor := pages.Monitor()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var refusal *dashboard.Refusal
		if err := monitor.Serve(w, r); errors.As(err, &refusal) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, refusal.ProblemName()+": "+refusal.Error())
		}
	}))
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, pages.Close())
		require.NoError(t, rdb.Close())
	})
	return &bundle{t: t, server: server, inspector: inspector}
}

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// send makes a request with a key as the password; headers are pairs.
func (b *bundle) send(key, method, path string, headers ...string) reply {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, b.server.URL+path, nil)
	require.NoError(b.t, err)
	if key != "" {
		r.SetBasicAuth("whoever", key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.server.Client().Do(r)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	return reply{response.StatusCode, response.Header, string(body)}
}

func (b *bundle) refused(answer reply, problem string) {
	b.t.Helper()
	require.Equal(b.t, http.StatusTeapot, answer.status, answer.body)
	require.Regexp(b.t, "^"+problem+": .+", answer.body)
}

func (b *bundle) pending() int {
	b.t.Helper()
	info, err := b.inspector.GetQueueInfo("inkjet")
	require.NoError(b.t, err)
	return info.Pending
}

const run = "/monitor/api/queues/inkjet/archived_tasks/job_1-a1:run"

func TestMonitorShowsItsPage(t *testing.T) {
	t.Parallel()
	b := setup(t, keyring{})
	for _, path := range []string{"/monitor", "/monitor/", "/monitor/queues/inkjet"} {
		answer := b.send("op", http.MethodGet, path)
		require.Equal(t, http.StatusOK, answer.status, path)
		require.Contains(t, answer.body, `FLAG_READ_ONLY="false"`, path)
		csp := answer.header.Get("Content-Security-Policy")
		require.NotContains(t, csp, "default-src", "asynqmon's scripts are inline")
		require.Contains(t, csp, "frame-ancestors 'none'")
		require.Equal(t, "DENY", answer.header.Get("X-Frame-Options"))
	}
	answer := b.send("op", http.MethodGet, "/monitor/api/queues")
	require.Contains(t, answer.body, `"queue":"inkjet"`)
	answer = b.send("op", http.MethodGet, "/monitor/api/queues/inkjet/archived_tasks")
	require.Contains(t, answer.body, "job_1-a1")
}

func TestMonitorTakesBearer(t *testing.T) {
	t.Parallel()
	b := setup(t, keyring{})
	answer := b.send("", http.MethodGet, "/monitor/api/queues", "Authorization", "Bearer op")
	require.Equal(t, http.StatusOK, answer.status)
}

func TestMonitorAsksForAKey(t *testing.T) {
	t.Parallel()
	b := setup(t, keyring{})
	for _, path := range []string{"/monitor", "/monitor/", "/monitor/api/queues", "/monitor/static/js/x.js"} {
		for _, key := range []string{"", "wrong"} {
			answer := b.send(key, http.MethodGet, path)
			b.refused(answer, "unauthorized")
			require.Equal(t, `Basic realm="onejob", charset="UTF-8"`, answer.header.Get("WWW-Authenticate"))
		}
	}
	answer := b.send("", http.MethodPost, run)
	b.refused(answer, "unauthorized")
	require.Zero(t, b.pending())
}

func TestMonitorIsNotForOwners(t *testing.T) {
	t.Parallel()
	b := setup(t, keyring{})
	answer := b.send("sub", http.MethodGet, "/monitor")
	b.refused(answer, "forbidden")
	answer = b.send("sub", http.MethodPost, run)
	b.refused(answer, "forbidden")
	require.Zero(t, b.pending())
}

func TestMonitorShowsViewersNoButtons(t *testing.T) {
	t.Parallel()
	b := setup(t, keyring{})
	answer := b.send("view", http.MethodGet, "/monitor")
	require.Equal(t, http.StatusOK, answer.status)
	require.Contains(t, answer.body, `FLAG_READ_ONLY="true"`)
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodPut, http.MethodPatch} {
		answer = b.send("view", method, run)
		b.refused(answer, "forbidden")
	}
	require.Zero(t, b.pending())
}

func TestMonitorTakesWritesOfItsOwnPageOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		headers func(host string) []string
		good    bool
	}{
		"no browser": {func(string) []string { return nil }, true},
		"own page": {func(host string) []string {
			return []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://" + host}
		}, true},
		"typed in":      {func(string) []string { return []string{"Sec-Fetch-Site", "none"} }, true},
		"older browser": {func(host string) []string { return []string{"Origin", "http://" + host} }, true},
		"other site": {func(string) []string {
			return []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}
		}, false},
		"sister site":   {func(string) []string { return []string{"Sec-Fetch-Site", "same-site"} }, false},
		"other origin":  {func(string) []string { return []string{"Origin", "https://evil.example"} }, false},
		"origin hidden": {func(string) []string { return []string{"Origin", "null"} }, false},
		"origins do not agree": {func(host string) []string {
			return []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://" + host}
		}, false},
		"origin with other port": {func(string) []string { return []string{"Origin", "http://127.0.0.1:1"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, keyring{})
			answer := b.send("op", http.MethodPost, run, tt.headers(strings.TrimPrefix(b.server.URL, "http://"))...)
			if !tt.good {
				b.refused(answer, "forbidden")
				require.Zero(t, b.pending())
				return
			}
			require.Less(t, answer.status, 300, answer.body)
			require.Equal(t, 1, b.pending())
		})
	}
}

func TestMonitorWithTheKeysAway(t *testing.T) {
	t.Parallel()
	b := setup(t, keyring{err: auth.ErrUnavailable})
	answer := b.send("op", http.MethodGet, "/monitor")
	b.refused(answer, "store-unavailable")
}

// With the session's cookie, which a browser sends along by itself, a write must be
// said to come from our page; asynqmon's own calls are.
func TestMonitorWithASession(t *testing.T) {
	t.Parallel()
	s := open(t)
	require.NoError(t, s.rdb.SAdd(t.Context(), "asynq:queues", "inkjet").Err())
	const pauseQueue = "/monitor/api/queues/inkjet:pause"
	for name, tt := range map[string]struct {
		key     string
		headers []string
		good    bool
	}{
		"own page":      {s.operator, []string{"Sec-Fetch-Site", "same-origin"}, true},
		"older browser": {s.operator, []string{"Origin", s.server.URL}, true},
		"not said":      {s.operator, nil, false},
		"typed in":      {s.operator, []string{"Sec-Fetch-Site", "none"}, false},
		"cross-site":    {s.operator, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		"viewer":        {s.viewer, []string{"Sec-Fetch-Site", "same-origin"}, false},
	} {
		s.redis.Del("asynq:{inkjet}:paused")
		answer := s.signedIn(tt.key).send(http.MethodPost, pauseQueue, nil, tt.headers...)
		require.Equal(t, tt.good, s.paused(), name)
		entry := s.trail()[0]
		if !tt.good {
			require.Contains(t, answer.body, "forbidden", name)
			require.Equal(t, "login", entry.Action, name)
			continue
		}
		require.Equal(t, audit.Entry{
			ID: entry.ID, At: entry.At, Actor: "operator:operator-person", KeyID: s.operatorKey.ID, Role: "operator",
			Action: "monitor", Target: "POST " + pauseQueue, From: "127.0.0.1", Outcome: audit.Done,
		}, entry, name)
	}
}

func TestMonitorEntersWhatAsynqmonRefuses(t *testing.T) {
	t.Parallel()
	s := open(t)
	answer := s.signedIn(s.operator).send(http.MethodDelete, "/monitor/api/queues/nobody", nil, "Sec-Fetch-Site", "same-origin")
	require.GreaterOrEqual(t, answer.status, 400)
	require.Contains(t, []audit.Outcome{audit.Refused, audit.Failed}, s.trail()[0].Outcome)
	require.Contains(t, s.trail()[0].Detail, "asynqmon answered")
}

func TestMonitorLinksBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, key := range []string{s.operator, s.viewer} {
		b := s.signedIn(key)
		page := b.get("/monitor")
		require.Contains(t, page.body, `<a href="/dashboard" id="onejob-dashboard"`)
		require.True(t, strings.HasSuffix(strings.TrimSpace(page.body), "</html>"))
		script := regexp.MustCompile(`/monitor/static/js/[^"]+`).FindString(page.body)
		require.NotContains(t, b.get(script, "Accept", "*/*").body, "onejob-dashboard")
	}
}
