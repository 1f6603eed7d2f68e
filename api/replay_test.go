package api_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/jobs"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.submit("k1", printBody)
	job := first.is(http.StatusAccepted).job()

	// The same intent, spelt otherwise and under the quoted key.
	again := b.submit(`"k1"`, `{ "input": {"pages": 2.0, "text": "\u0068ello"}, "route": "print" }`).is(http.StatusAccepted)
	require.Equal(t, job.ID, again.job().ID)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, "no-store", again.header.Get("Cache-Control"))
	require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
	require.Equal(t, "1", again.header.Get("Retry-After"))
	require.JSONEq(t, `{"text":"hello","pages":2}`, string(again.job().Input), "what was stored, never the new body")

	claim := b.claim(job, 1)
	require.Equal(t, jobs.Running, b.submit("k1", printBody).is(http.StatusAccepted).job().State)
	b.suspect(claim)
	unknown := b.submit("k1", printBody).is(http.StatusAccepted)
	require.Equal(t, jobs.Unknown, unknown.job().State)
	require.Equal(t, "5", unknown.header.Get("Retry-After"))

	b.finalize(claim, `{"ok":true}`)
	ended := b.submit("k1", printBody).is(http.StatusOK)
	require.JSONEq(t, `{"ok":true}`, string(ended.job().Result))
	require.Equal(t, "true", ended.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.header.Get("Location"), ended.header.Get("Location"))
	require.Empty(t, ended.header.Get("Retry-After"))
}

// I8: whatever the state, another body is a conflict, and nothing is written.
func TestReplayWithAnotherBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	conflict := func(state string) {
		t.Helper()
		before := b.redis.Dump()
		answer := b.submit("k1", `{"route":"print","input":{"text":"hello","pages":3}}`)
		p := answer.problem(http.StatusConflict, "idempotency-key-reused")
		require.Equal(t, job.ID, p.Job, state)
		require.Equal(t, "false", answer.header.Get("X-Should-Retry"))
		require.Equal(t, before, b.redis.Dump(), "nothing was written: %s", state)
	}
	conflict("queued")
	claim := b.claim(job, 1)
	conflict("running")
	b.suspect(claim)
	conflict("unknown")
	b.finalize(claim, `{}`)
	conflict("succeeded")
	b.submit("k1", `{"route":"scan","input":{"text":"hello","pages":2}}`).problem(http.StatusConflict, "idempotency-key-reused")
	b.submit("k1", strings.Replace(printBody, `{`, `{"metadata":{},`, 1)).problem(http.StatusConflict, "idempotency-key-reused")
}

func TestReplayAfterTheRecordExpired(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	b.finalize(b.claim(job, 1), `{}`)
	for _, key := range b.redis.Keys() {
		if strings.Contains(key, job.ID) {
			b.redis.Del(key)
		}
	}
	answer := b.submit("k1", printBody)
	require.Equal(t, job.ID, answer.problem(http.StatusGone, "idempotency-key-expired").Job)
	require.Equal(t, "false", answer.header.Get("X-Should-Retry"))
	b.submit("k1", `{"route":"print","input":0}`).problem(http.StatusConflict, "idempotency-key-reused")
	b.get(devKey, "/v1/jobs/"+job.ID).problem(http.StatusNotFound, "not-found")
}

func TestKeysBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine := b.made("k1")
	theirs := b.post(otherKey, "/v1/jobs", printBody, "Idempotency-Key", "k1").is(http.StatusAccepted)
	require.NotEqual(t, mine.ID, theirs.job().ID)
	require.Equal(t, "other", theirs.job().Owner)
	require.Empty(t, theirs.header.Get("Idempotent-Replayed"))
	b.post(otherKey, "/v1/jobs", `{"route":"print","input":0}`, "Idempotency-Key", "k2").is(http.StatusAccepted)
	b.submit("k2", printBody).is(http.StatusAccepted)
}

func TestKeysTellCaseApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NotEqual(t, b.made("k").ID, b.made("K").ID)
}

func TestReplayIsAuthorisedLikeTheFirstCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.made("k1")
	b.post("", "/v1/jobs", printBody, "Idempotency-Key", "k1").problem(http.StatusUnauthorized, "unauthorized")
	b.post("revoked", "/v1/jobs", printBody, "Idempotency-Key", "k1").problem(http.StatusUnauthorized, "unauthorized")
	b.post(viewerKey, "/v1/jobs", printBody, "Idempotency-Key", "k1").problem(http.StatusForbidden, "forbidden")
}

func TestIntents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, tt := range []struct {
		first, second string
		same          bool
	}{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`[1, 1.0, 1e0]`, `[1,1,1]`, true},
		{`-0`, `0`, true},
		{`9007199254740993`, `9007199254740993.0`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
		{"\"\u00e9\"", "\"e\u0301\"", false},
		{`"a"`, `"A"`, false},
	} {
		t.Run(fmt.Sprint(tt.first, " ", tt.second), func(t *testing.T) {
			t.Parallel()
			b, key := b.in(t), fmt.Sprint("intent-", i)
			b.submit(key, `{"route":"print","input":`+tt.first+`}`).is(http.StatusAccepted)
			second := b.submit(key, `{"route":"print","input":`+tt.second+`}`)
			if tt.same {
				second.is(http.StatusAccepted)
			} else {
				second.problem(http.StatusConflict, "idempotency-key-reused")
			}
		})
	}
}

// I7, through two API processes over one store.
func TestConcurrentSubmitsMakeOneJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := b.in(t)
	other.serve(b.store, keyring{})
	var mu sync.Mutex
	ids, created := map[string]int{}, 0
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			server := b
			if i%2 == 1 {
				server = other
			}
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, server.url+"/v1/jobs", strings.NewReader(printBody))
			r.Header = http.Header{"Authorization": {"Bearer " + devKey}, "Content-Type": {"application/json"}, "Idempotency-Key": {"k1"}}
			response, err := server.client.Do(r)
			if !assert.NoError(t, err) {
				return
			}
			defer func() { _ = response.Body.Close() }()
			assert.Equal(t, http.StatusAccepted, response.StatusCode)
			mu.Lock()
			defer mu.Unlock()
			ids[response.Header.Get("Location")]++
			if response.Header.Get("Idempotent-Replayed") == "" {
				created++
			}
		})
	}
	all.Wait()
	require.Len(t, ids, 1)
	require.Equal(t, 1, created)
	b.woken()
	require.Empty(t, b.waker.woken, "woken once")
}

// The job exists although its caller has gone, and the retry finds it.
func TestClientThatHangsUpHasItsJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entered, release := make(chan struct{}), make(chan struct{})
	b.serve(gate{Store: b.store, entered: entered, release: release}, keyring{})

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k1\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", devKey, len(printBody), printBody)
	require.NoError(t, err)
	<-entered
	require.NoError(t, conn.Close())
	close(release)

	require.Equal(t, "inkjet", b.woken().Provider)
	again := b.submit("k1", printBody).is(http.StatusAccepted)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
}

// A request that today's configuration refuses is still answered with the job
// it made when it was good: a retry must learn what became of it.
func TestReplayOutlivesTheConfiguration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	b.serve(b.store, keyring{}, func(c *api.Config) {
		c.Routes = map[string]api.Route{"scan": testRoutes["scan"]}
	})
	again := b.submit("k1", printBody).is(http.StatusAccepted)
	require.Equal(t, job.ID, again.job().ID)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	b.submit("k1", `{"route":"print","input":0}`).problem(http.StatusConflict, "idempotency-key-reused")
	b.submit("k2", printBody).problem(http.StatusUnprocessableEntity, "route-unknown")
	b.post(otherKey, "/v1/jobs", printBody, "Idempotency-Key", "k1").problem(http.StatusUnprocessableEntity, "route-unknown")
}

// A failed job whose record expires is not run again silently by its key.
func TestSubmitAfterFailureIsAReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	b.fail(b.claim(job, 1))
	again := b.submit("k1", printBody).is(http.StatusOK).job()
	require.Equal(t, jobs.Failed, again.State)
	require.Len(t, again.Attempts, 1)
	require.NotNil(t, again.Error)
	require.WithinDuration(t, time.Now().Add(72*time.Hour), again.ExpiresAt.Go(), time.Minute)
}
