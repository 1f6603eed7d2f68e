package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/auth"
	"onejob/jobs"
)

func TestUnauthorized(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, headers := range map[string][]string{
		"none":         nil,
		"other scheme": {"Authorization", "Basic ZGV2LWtleTo="},
		"bare":         {"Authorization", "dev-key"},
		"unknown":      {"Authorization", "Bearer nobody"},
		"two":          {"Authorization", "Bearer dev-key", "Authorization", "Bearer other-key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := b.in(t).get("", "/v1/jobs", headers...)
			p := answer.problem(http.StatusUnauthorized, "unauthorized")
			require.Equal(t, `Bearer realm="onejob"`, answer.header.Get("WWW-Authenticate"))
			require.NotContains(t, p.Detail, "nobody")
		})
	}
	b.get("", "/v1/jobs", "Authorization", "bearer dev-key").is(http.StatusOK)
}

// The callbacks have their own credential, in the path.
func TestEveryCallOfTheAPINeedsAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	for _, route := range b.api.Routes() {
		if !strings.HasPrefix(route.Path, "/v1/") || route.Method == "echo_route_not_found" {
			continue
		}
		path := strings.NewReplacer(":id", job.ID, ":n", "1").Replace(route.Path)
		b.send("", route.Method, path, "").problem(http.StatusUnauthorized, "unauthorized")
		b.send("nobody", route.Method, path, "").problem(http.StatusUnauthorized, "unauthorized")
		if route.Method != http.MethodGet {
			b.send(viewerKey, route.Method, path, `{"reason":"x"}`).problem(http.StatusForbidden, "forbidden")
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/", "/v1", "/v1/jobs/", "/v1/jobs/x/y", "/V1/jobs", "/index.html", "/problems/", "/problems/a/b", "/%2e%2e"} {
		b.get(devKey, path).problem(http.StatusNotFound, "not-found")
	}
}

func TestMethodNotAllowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, allow := range map[string]string{
		"/v1/jobs": "OPTIONS, GET, POST", "/v1/jobs/job_1": "OPTIONS, GET", "/v1/jobs/job_1/cancel": "OPTIONS, POST", "/healthz": "OPTIONS, GET",
	} {
		answer := b.send(devKey, http.MethodDelete, path, "")
		answer.problem(http.StatusMethodNotAllowed, "method-not-allowed")
		require.ElementsMatch(t, strings.Split(allow, ", "), strings.Split(answer.header.Get("Allow"), ", "), path)
	}
	answer := b.send(devKey, http.MethodOptions, "/v1/jobs", "").is(http.StatusNoContent)
	require.Contains(t, answer.header.Get("Allow"), "POST")
}

func TestHead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	answer := b.send(devKey, http.MethodHead, "/v1/jobs/"+job.ID, "").is(http.StatusOK)
	require.Equal(t, `"v1.1"`, answer.header.Get("ETag"))
	require.Empty(t, answer.body)
	b.send(devKey, http.MethodHead, "/v1/jobs/"+job.ID+"/events", "", "Accept", "text/event-stream").is(http.StatusOK)
	b.send(devKey, http.MethodHead, "/v1/jobs/job_1", "").is(http.StatusNotFound)
	b.send("", http.MethodHead, "/healthz", "").is(http.StatusOK)
}

func TestPanic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(broken{Store: b.store}, keyring{})
	answer := b.get(devKey, "/v1/jobs", "X-Request-Id", "find-me")
	p := answer.problem(http.StatusInternalServerError, "internal")
	require.Equal(t, "find-me", p.RequestID)
	require.NotContains(t, string(answer.body), "secret")
	require.NotContains(t, string(answer.body), "goroutine")
	require.Contains(t, b.log.String(), `"panic":"a string"`, "its text may hold anything")
	require.NotContains(t, b.log.String(), "secret of the store")
	require.Contains(t, b.log.String(), "stores_test.go", "the stack says where")
	require.Contains(t, b.log.String(), `"owner":"dev"`)
	require.Contains(t, b.log.String(), "find-me")
}

func TestUnexpectedError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(broken{Store: b.store, err: errors.New("job 7: script answered 3 fields")}, keyring{})
	answer := b.submit("k1", printBody)
	answer.problem(http.StatusInternalServerError, "internal")
	require.NotContains(t, string(answer.body), "script")
	require.Contains(t, b.log.String(), "script answered 3 fields")
}

func TestStoreUnavailable(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"dial":        &net.OpError{Op: "dial", Err: errors.New("connection refused")},
		"pool":        fmt.Errorf("submit: %w", redis.ErrPoolTimeout),
		"timeout":     context.DeadlineExceeded,
		"end":         io.EOF,
		"loading":     redisError("LOADING Redis is loading the dataset in memory"),
		"read only":   redisError("READONLY You can't write against a read only replica."),
		"full memory": redisError("OOM command not allowed when used memory > 'maxmemory'."),
		"closed":      redis.ErrClosed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.serve(broken{Store: b.store, err: err}, keyring{})
			for _, answer := range []*reply{
				b.submit("k1", printBody), b.get(devKey, "/v1/jobs"), b.get(devKey, "/v1/jobs/job_1"), b.post(devKey, "/v1/jobs/job_1/cancel", ""),
			} {
				answer.problem(http.StatusServiceUnavailable, "store-unavailable")
				require.Equal(t, "2", answer.header.Get("Retry-After"))
				require.Empty(t, answer.header.Get("X-Should-Retry"))
			}
		})
	}
}

// redisError is an error as a server answers it.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

func TestKeysUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(b.store, keyring{err: fmt.Errorf("%w: dial tcp", auth.ErrUnavailable)})
	b.submit("k1", printBody).problem(http.StatusServiceUnavailable, "store-unavailable")
}

func TestRedisGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	b.redis.Close()
	began := time.Now()
	b.submit("k1", printBody).problem(http.StatusServiceUnavailable, "store-unavailable")
	require.Less(t, time.Since(began), 5*time.Second)
	b.get(devKey, "/v1/jobs/"+job.ID).problem(http.StatusServiceUnavailable, "store-unavailable")
	require.NoError(t, b.redis.Restart())
	require.Equal(t, job.ID, b.submit("k1", printBody).is(http.StatusAccepted).job().ID)
}

// A store that takes connections and says nothing is answered in time, too.
func TestRedisSilent(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	b := setup(t)
	rdb := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), ContextTimeoutEnabled: true})
	store := jobs.NewStore(rdb, jobs.Options{})
	t.Cleanup(func() { _, _ = store.Close(), rdb.Close() })
	b.serve(store, keyring{})
	began := time.Now()
	b.submit("k1", printBody).problem(http.StatusServiceUnavailable, "store-unavailable")
	require.Less(t, time.Since(began), 5*time.Second)
}

// What arrives broken is answered, whatever it is; only what net/http itself
// refuses does not get as far as a problem.
func TestBodyThatDoesNotArriveWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusBadRequest, b.raw(true, "Content-Type: application/json\r\nIdempotency-Key: k1\r\n"+
		"Content-Length: 100\r\n\r\n{\"route\":"))
	require.Empty(t, b.redis.Keys())
}

func TestKeyWithNULIsRefused(t *testing.T) {
	t.Parallel()
	require.Equal(t, http.StatusBadRequest, setup(t).raw(false, "Idempotency-Key: a\x00b\r\nContent-Length: 0\r\n\r\n"))
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, "abc-1", b.get("", "/healthz", "X-Request-Id", "abc-1").header.Get("X-Request-Id"))
	for _, bad := range []string{"", strings.Repeat("x", 129), "a b", "ü"} {
		require.Regexp(t, `^req_[0-9A-Z]{26}$`, b.get("", "/healthz", "X-Request-Id", bad).header.Get("X-Request-Id"))
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, answer := range []*reply{b.get(devKey, "/v1/jobs"), b.get("", "/nope"), b.get("", "/healthz"), b.get("", "/openapi.yaml")} {
		require.Equal(t, "nosniff", answer.header.Get("X-Content-Type-Options"))
		require.Contains(t, answer.header.Get("Content-Security-Policy"), "default-src 'none'")
	}
	require.Equal(t, "no-store", b.get(devKey, "/v1/jobs").header.Get("Cache-Control"))
	require.Equal(t, "no-referrer", b.get("", "/openapi.yaml").header.Get("Referrer-Policy"), "what is not under /v1 may have links")
}

// The log tells who did what to which job; what was sent stays out of it.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.submit("a-private-key", `{"route":"print","input":"a private input"}`, "X-Request-Id", "req-9").is(http.StatusAccepted).job()
	b.get(devKey, "/v1/jobs/"+job.ID+"?secret=1")
	b.get("", "/a-private-path")
	b.api.Stop()
	log := b.log.String()
	require.Regexp(t, `"method":"POST","route":"/v1/jobs","status":202,"took":\d+,"request_id":"req-9","owner":"dev","job":"`+job.ID+`"`, log)
	require.Contains(t, log, `"route":"/v1/jobs/:id"`)
	for _, private := range []string{"private", "secret", devKey} {
		require.NotContains(t, log, private)
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	ready := api.Readiness{Ready: true, Durability: "fsync"}
	b := setup(t, func(c *api.Config) {
		c.Ready = func(context.Context) api.Readiness { return ready }
	})
	require.JSONEq(t, `{"status":"ok"}`, string(b.get("", "/healthz").is(http.StatusOK).body))
	require.JSONEq(t, `{"ready":true,"durability":"fsync"}`, string(b.get("", "/readyz").is(http.StatusOK).body))
	ready = api.Readiness{Reasons: []string{"redis is away"}, Notes: []string{"partition 3 went back in time"}}
	b.redis.Close()
	require.JSONEq(t, `{"ready":false,"reasons":["redis is away"],"notes":["partition 3 went back in time"]}`,
		string(b.get("", "/readyz").is(http.StatusServiceUnavailable).body))
	b.get("", "/healthz").is(http.StatusOK)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.OpenMetrics = true })
	b.made("k1")
	b.get(devKey, "/v1/jobs/job_1")
	b.get("", "/nowhere/"+strings.Repeat("x", 100))
	text := string(b.get("", "/metrics").is(http.StatusOK).body)
	require.Contains(t, text, `onejob_http_requests_total{method="POST",route="/v1/jobs",status="202"} 1`)
	require.Contains(t, text, `onejob_http_requests_total{method="GET",route="/v1/jobs/:id",status="404"} 1`)
	require.Contains(t, text, `onejob_http_requests_total{method="other",route="unmatched",status="404"} 1`)
	require.Contains(t, text, `onejob_http_request_seconds_count{method="POST",route="/v1/jobs"} 1`)
	require.NotContains(t, text, "xxx")
}

func TestProbesAlone(t *testing.T) {
	t.Parallel()
	routes := []string{}
	for _, route := range api.NewProbes(api.Config{}, keyring{}).Routes() {
		if route.Method == http.MethodGet {
			routes = append(routes, route.Path)
		}
	}
	require.ElementsMatch(t, []string{"/healthz", "/readyz", "/metrics"}, routes)
}

// A body announced as too large is refused before it is sent.
func TestTooLargeIsRefusedAtTheAnnouncement(t *testing.T) {
	t.Parallel()
	require.Equal(t, http.StatusRequestEntityTooLarge, setup(t).raw(false, "Content-Type: application/json\r\nIdempotency-Key: k1\r\n"+
		"Content-Length: 1073741824\r\nExpect: 100-continue\r\n\r\n"))
}

// raw posts to /v1/jobs what no client would send, ends there if asked to, and
// returns the status of the answer.
func (b *bundle) raw(end bool, headersAndBody string) int {
	b.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(b.t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(b.t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(b.t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = io.WriteString(conn, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+devKey+"\r\n"+headersAndBody)
	require.NoError(b.t, err)
	if end {
		require.NoError(b.t, conn.(*net.TCPConn).CloseWrite())
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode
}
