package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/api/openai"
	"onejob/auth"
	"onejob/jobs"
)

// Keys of the tests.
const (
	devKey      = "dev-key"
	otherKey    = "other-key"
	viewerKey   = "viewer-key"
	operatorKey = "operator-key"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

var identities = map[string]auth.Identity{
	devKey:      {Owner: "dev", Role: auth.Submit},
	otherKey:    {Owner: "other", Role: auth.Submit},
	viewerKey:   {Owner: "watch", Role: auth.Viewer},
	operatorKey: {Owner: "ops", Role: auth.Operator},
}

type keyring struct{}

func (keyring) Authenticate(_ context.Context, bearer string) (auth.Identity, error) {
	who, ok := identities[bearer]
	if !ok {
		return auth.Identity{}, fmt.Errorf("%w: the API key is unknown or was revoked", auth.ErrUnauthorized)
	}
	return who, nil
}

// wakes are the wake-ups that were handed over; a job has one per attempt.
type wakes chan jobs.Wake

func (w wakes) Wake(_ context.Context, wake jobs.Wake) { w <- wake }

// bundle is a door over a store of its own, served on loopback.
type bundle struct {
	t      *testing.T
	url    string
	api    *api.Server
	store  *jobs.Store
	redis  *miniredis.Miniredis
	wakes  wakes
	client *http.Client
}

func setup(t *testing.T, config openai.Config) *bundle {
	t.Helper()
	b := &bundle{t: t, redis: miniredis.RunT(t), wakes: make(wakes, 100)}
	b.redis.ClockTTL(true)
	rdb := redis.NewClient(&redis.Options{Addr: b.redis.Addr(), ContextTimeoutEnabled: true})
	b.store = jobs.NewStore(rdb, jobs.Options{})
	b.api = api.New(api.Config{Routes: map[string]api.Route{
		"chat":  {Providers: []string{"gpt"}, Params: []string{"temperature", "tools", "seed"}},
		"print": {Providers: []string{"inkjet"}},
	}}, b.store, b.wakes, keyring{})
	if config.Wait == 0 {
		config.Wait = patience
	}
	config.Routes = []string{"print", "chat"}
	b.api.Mount(openai.Root, openai.New(b.api, config))
	server := httptest.NewUnstartedServer(nil)
	server.Config = b.api.HTTP("")
	server.Start()
	b.url, b.client = server.URL, server.Client()
	t.Cleanup(func() {
		b.api.Stop()
		server.Close()
		b.api.Stop()
		require.NoError(t, b.store.Close())
		require.NoError(t, rdb.Close())
	})
	return b
}

// in is the same bundle within a sub-test.
func (b *bundle) in(t *testing.T) *bundle {
	t.Helper()
	within := *b
	within.t = t
	return &within
}

// reply is an answer read to its end.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// send makes a request; headers are pairs of name and value, and an empty value
// takes the header out.
func (b *bundle) send(ctx context.Context, method, path, body string, headers ...string) (*reply, error) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, b.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + devKey}, "Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	response, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &reply{t: b.t, status: response.StatusCode, header: response.Header, body: string(read)}, described(r, response, read)
}

const completions = openai.Root + "/chat/completions"

// chat calls the door under a key and waits for its answer.
func (b *bundle) chat(key, body string, headers ...string) *reply {
	b.t.Helper()
	return b.chatting(key, body, headers...)()
}

// chatting begins a call; the function it returns waits for the answer.
func (b *bundle) chatting(key, body string, headers ...string) func() *reply {
	b.t.Helper()
	type outcome struct {
		r   *reply
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		r, err := b.send(ctx, http.MethodPost, completions, body, append([]string{"Idempotency-Key", key}, headers...)...)
		done <- outcome{r, err}
	}()
	return func() *reply {
		b.t.Helper()
		got := <-done
		require.NoError(b.t, got.err)
		return got.r
	}
}

func (r *reply) is(status int) *reply {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s", r.body)
	return r
}

// fault is an error in OpenAI's envelope.
type fault struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// fault is the error of that status and code; retry is what x-should-retry says.
func (r *reply) fault(status int, code, retry string) fault {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s", r.body)
	require.Equal(r.t, "application/json", r.header.Get("Content-Type"))
	require.Equal(r.t, retry, r.header.Get("X-Should-Retry"), "%s", r.body)
	f := readFault(r.t, r.body)
	require.Equal(r.t, code, f.Code, "%s", r.body)
	require.NotEmpty(r.t, f.Message)
	return f
}

func readFault(t *testing.T, body string) fault {
	t.Helper()
	var e struct {
		Error *fault `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &e), "%s", body)
	require.NotNil(t, e.Error, "%s", body)
	return *e.Error
}

func (r *reply) jobID() string {
	r.t.Helper()
	id := r.header.Get("X-Job-Id")
	require.NotEmpty(r.t, id)
	return id
}

// made waits for the next job to be made and claims its first attempt, as a
// worker that listens until deadline.
func (b *bundle) made(deadline time.Duration) *jobs.Claim {
	b.t.Helper()
	select {
	case wake := <-b.wakes:
		return b.claim(wake, deadline)
	case <-time.After(patience):
		require.FailNow(b.t, "no job was made")
		return nil
	}
}

func (b *bundle) claim(wake jobs.Wake, deadline time.Duration) *jobs.Claim {
	b.t.Helper()
	claim, err := b.store.Claim(b.t.Context(), jobs.ClaimRequest{
		JobID: wake.JobID, Attempt: wake.Attempt, Token: jobs.NewOp(), Provider: wake.Provider, Deadline: deadline, Actor: "worker",
	})
	require.NoError(b.t, err)
	return claim
}

func ending(claim *jobs.Claim) jobs.Ending {
	return jobs.Ending{JobID: claim.JobID, Attempt: claim.Attempt, Fence: claim.Fence, Effect: "done", Actor: "worker"}
}

func (b *bundle) finalize(claim *jobs.Claim, result string) {
	b.t.Helper()
	_, err := b.store.Finalize(b.t.Context(), ending(claim), json.RawMessage(result), nil)
	require.NoError(b.t, err)
}

func (b *bundle) fail(claim *jobs.Claim, reason string) {
	b.t.Helper()
	_, err := b.store.Fail(b.t.Context(), ending(claim), jobs.Failure{
		Reason: reason, Message: "it said no.", Policy: &jobs.Policy{MaxAttempts: 1, Tries: 1},
	})
	require.NoError(b.t, err)
}

func (b *bundle) suspect(claim *jobs.Claim, lookIn time.Duration) {
	b.t.Helper()
	ok, err := b.store.Suspect(b.t.Context(), jobs.Suspicion{
		JobID: claim.JobID, Attempt: claim.Attempt, Token: claim.Token, Reason: "timeout", Actor: "worker", Reminders: jobs.Reminders{Lookup: lookIn},
	})
	require.NoError(b.t, err)
	require.True(b.t, ok)
}

func (b *bundle) job(id string) *jobs.Job {
	b.t.Helper()
	job, err := b.store.Get(b.t.Context(), id)
	require.NoError(b.t, err)
	return job
}

// count is how many jobs there are.
func (b *bundle) count() int {
	b.t.Helper()
	page, err := b.store.List(b.t.Context(), jobs.Query{Limit: 100})
	require.NoError(b.t, err)
	return len(page.Jobs)
}

// hello is a request, and answer what a chat provider's result for it looks like.
const (
	hello  = `{"model":"chat","messages":[{"role":"user","content":"hello"}],"seed":9007199254740993}`
	sent   = `{"id":"chatcmpl-7","object":"chat.completion","created":1,"model":"gpt-5","choices":[{"index":0,"message":{"role":"assistant","content":"Good day."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9007199254740993,"completion_tokens":2,"total_tokens":9007199254740995}}`
	answer = `{"content":"Good day.","finish_reason":"stop","usage":null,"model":"gpt-5","response":` + sent + `}`
)
