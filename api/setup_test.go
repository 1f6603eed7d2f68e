package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/auth"
	"onejob/jobs"
	"onejob/logtest"
)

// Keys of the tests.
const (
	devKey      = "dev-key"
	otherKey    = "other-key"
	viewerKey   = "viewer-key"
	operatorKey = "operator-key"
)

var identities = map[string]auth.Identity{
	devKey:      {Owner: "dev", Role: auth.Submit, KeyID: "k1"},
	otherKey:    {Owner: "other", Role: auth.Submit, KeyID: "k2"},
	viewerKey:   {Owner: "watch", Role: auth.Viewer, KeyID: "k3"},
	operatorKey: {Owner: "ops", Role: auth.Operator, KeyID: "k4"},
}

// keyring knows the keys of the tests, or is away.
type keyring struct{ err error }

func (k keyring) Authenticate(_ context.Context, bearer string) (auth.Identity, error) {
	who, ok := identities[bearer]
	switch {
	case k.err != nil:
		return auth.Identity{}, k.err
	case !ok:
		return auth.Identity{}, fmt.Errorf("%w: the API key is unknown or was revoked", auth.ErrUnauthorized)
	}
	return who, nil
}

// wakeLog remembers the wake-ups it was given.
type wakeLog struct{ woken chan jobs.Wake }

func (w wakeLog) Wake(_ context.Context, wake jobs.Wake) { w.woken <- wake }

// bundle is an API over a store of its own, served on loopback.
type bundle struct {
	t      *testing.T
	url    string
	api    *api.Server
	store  *jobs.Store
	redis  *miniredis.Miniredis
	rdb    *redis.Client
	waker  wakeLog
	log    *logtest.Buffer
	client *http.Client
}

var testRoutes = map[string]api.Route{
	"print": {Providers: []string{"inkjet", "laser"}, Params: []string{"temperature"}},
	"scan":  {Providers: []string{"flatbed"}},
}

func setup(t *testing.T, change ...func(*api.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, redis: miniredis.RunT(t), waker: wakeLog{make(chan jobs.Wake, 1000)}, log: &logtest.Buffer{}}
	b.redis.ClockTTL(true)
	b.rdb = redis.NewClient(&redis.Options{Addr: b.redis.Addr(), ContextTimeoutEnabled: true})
	b.store = jobs.NewStore(b.rdb, jobs.Options{})
	b.serve(b.store, keyring{}, change...)
	t.Cleanup(func() {
		require.NoError(t, b.store.Close())
		require.NoError(t, b.rdb.Close())
	})
	return b
}

// serve puts an API over store on the network.
func (b *bundle) serve(store api.Store, keys api.Authenticator, change ...func(*api.Config)) {
	config := api.Config{
		Routes: testRoutes, Log: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		PolicyFor: jobs.PolicyByRoute(func(route string) *jobs.Policy {
			if route != "print" {
				return nil
			}
			return &jobs.Policy{MaxAttempts: 4, Tries: 1, Failover: "untested", Providers: []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser"}}}
		}),
	}
	for _, c := range change {
		c(&config)
	}
	b.api = api.New(config, store, b.waker, keys)
	server := httptest.NewUnstartedServer(nil)
	server.Config = b.api.HTTP("")
	server.Start()
	b.url, b.client = server.URL, server.Client()
	b.t.Cleanup(func() {
		b.api.Stop()
		server.Close()
		b.api.Stop()
	})
}

// reply is an answer read to its end.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// send makes a request with a key of the tests; headers are pairs of name and
// value. Every answer is held against the description of the API.
func (b *bundle) send(key, method, path, body string, headers ...string) *reply {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, b.url+path, content)
	require.NoError(b.t, err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if i > 1 && headers[i] == headers[i-2] {
			r.Header.Add(headers[i], headers[i+1])
		} else {
			r.Header[http.CanonicalHeaderKey(headers[i])] = []string{headers[i+1]}
		}
	}
	response, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	describedAnswer(b.t, r, response, read)
	return &reply{t: b.t, status: response.StatusCode, header: response.Header, body: read}
}

func (b *bundle) get(key, path string, headers ...string) *reply {
	b.t.Helper()
	return b.send(key, http.MethodGet, path, "", headers...)
}

func (b *bundle) post(key, path, body string, headers ...string) *reply {
	b.t.Helper()
	return b.send(key, http.MethodPost, path, body, headers...)
}

const printBody = `{"route":"print","input":{"text":"hello","pages":2}}`

// submit makes a job under a key.
func (b *bundle) submit(idempotencyKey, body string, headers ...string) *reply {
	b.t.Helper()
	return b.post(devKey, "/v1/jobs", body, append([]string{"Idempotency-Key", idempotencyKey}, headers...)...)
}

// made is a job of owner dev that was just submitted.
func (b *bundle) made(idempotencyKey string) *jobs.Job {
	b.t.Helper()
	return b.submit(idempotencyKey, printBody).is(http.StatusAccepted).job()
}

func (r *reply) is(status int) *reply {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s", r.body)
	return r
}

func (r *reply) job() *jobs.Job {
	r.t.Helper()
	job := &jobs.Job{}
	require.NoError(r.t, json.Unmarshal(r.body, job), "%s", r.body)
	require.NotEmpty(r.t, job.ID, "%s", r.body)
	return job
}

// problem is the problem of that name and status, checked for what all have.
func (r *reply) problem(status int, name string) *api.Problem {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s", r.body)
	require.Equal(r.t, "application/problem+json", r.header.Get("Content-Type"))
	require.Equal(r.t, "no-store", r.header.Get("Cache-Control"))
	p := &api.Problem{}
	require.NoError(r.t, json.Unmarshal(r.body, p))
	require.Equal(r.t, "/problems/"+name, p.Type, "%s", r.body)
	require.Equal(r.t, status, p.Status)
	require.NotEmpty(r.t, p.Title)
	require.NotEmpty(r.t, p.Detail)
	require.NotEmpty(r.t, p.Hint)
	require.Equal(r.t, r.header.Get("X-Request-Id"), p.RequestID)
	return p
}

// The verbs of a worker.

func (b *bundle) claim(job *jobs.Job, n int) *jobs.Claim {
	b.t.Helper()
	now, err := b.store.Get(b.t.Context(), job.ID)
	require.NoError(b.t, err)
	claim, err := b.store.Claim(b.t.Context(), jobs.ClaimRequest{
		JobID: job.ID, Attempt: n, Token: jobs.NewOp(), Provider: now.Attempt(n).Provider, Deadline: time.Minute, Actor: "worker",
	})
	require.NoError(b.t, err)
	return claim
}

func (b *bundle) suspect(claim *jobs.Claim) {
	b.t.Helper()
	ok, err := b.store.Suspect(b.t.Context(), jobs.Suspicion{
		JobID: claim.JobID, Attempt: claim.Attempt, Token: claim.Token, Reason: "timeout", Actor: "worker",
		Evidence: json.RawMessage(`{"bytes_written":10}`),
	})
	require.NoError(b.t, err)
	require.True(b.t, ok)
}

func (b *bundle) finalize(claim *jobs.Claim, result string) {
	b.t.Helper()
	_, err := b.store.Finalize(b.t.Context(), jobs.Ending{
		JobID: claim.JobID, Attempt: claim.Attempt, Fence: claim.Fence, Effect: "done", Actor: "worker",
	}, json.RawMessage(result), nil)
	require.NoError(b.t, err)
}

func (b *bundle) fail(claim *jobs.Claim) {
	b.t.Helper()
	_, err := b.store.Fail(b.t.Context(), jobs.Ending{
		JobID: claim.JobID, Attempt: claim.Attempt, Fence: claim.Fence, Effect: "none", Actor: "worker",
	}, jobs.Failure{Reason: "rejected", Message: "no", Policy: &jobs.Policy{MaxAttempts: 1, Tries: 1}})
	require.NoError(b.t, err)
}

// unknown is a job whose first attempt is unknown.
func (b *bundle) unknown(idempotencyKey string) *jobs.Job {
	b.t.Helper()
	job := b.made(idempotencyKey)
	b.suspect(b.claim(job, 1))
	return job
}

func (b *bundle) woken() jobs.Wake {
	b.t.Helper()
	select {
	case wake := <-b.waker.woken:
		return wake
	case <-time.After(10 * time.Second):
		require.FailNow(b.t, "nothing was woken")
		return jobs.Wake{}
	}
}

// in is the same bundle within a sub-test.
func (b *bundle) in(t *testing.T) *bundle {
	t.Helper()
	within := *b
	within.t = t
	return &within
}

// sendChunked submits a body whose length is not announced.
func (b *bundle) sendChunked(idempotencyKey, body string) *reply {
	b.t.Helper()
	reader := struct{ io.Reader }{strings.NewReader(body)}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+"/v1/jobs", reader)
	require.NoError(b.t, err)
	r.Header = http.Header{
		"Authorization": {"Bearer " + devKey}, "Content-Type": {"application/json"}, "Idempotency-Key": {idempotencyKey},
	}
	response, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	describedAnswer(b.t, r, response, read)
	return &reply{t: b.t, status: response.StatusCode, header: response.Header, body: read}
}

// nextMillisecond returns when the store's clock shows another millisecond, so
// that what is made next is younger.
func (b *bundle) nextMillisecond() {
	b.t.Helper()
	for began := time.Now().UnixMilli(); time.Now().UnixMilli() == began; {
		if b.t.Context().Err() != nil {
			return
		}
	}
}
