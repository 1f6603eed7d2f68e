package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/handlers"
	"onejob/jobs"
	"onejob/redistest"
	"onejob/tasks"
	"onejob/webhooks"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// postman is the handler of deliveries over a store, with no queue in between.
type postman struct {
	t     *testing.T
	ctx   context.Context
	rdb   *redis.Client
	store *jobs.Store
	hooks *handlers.Webhooks
	log   *bytes.Buffer
	mu    sync.Mutex
	tries []string // event and outcome
}

func hire(t *testing.T, rdb *redis.Client) *postman {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	p := &postman{t: t, ctx: ctx, rdb: rdb, store: jobs.NewStore(rdb, jobs.Options{}), log: &bytes.Buffer{}}
	p.hooks = handlers.NewWebhooks(handlers.WebhookOptions{
		Store: p.store, Secrets: &webhooks.Secrets{Redis: rdb, Fixed: map[string]string{"dev": hookSecret}},
		Sender: webhooks.NewSender(webhooks.Addresses{Allow: webhooks.Loopback()}, 10*time.Second),
		Hosts:  webhooks.NewHosts(1), Slowdowns: webhooks.Slowdowns{Redis: rdb},
		Log: slog.New(slog.NewJSONHandler(p.log, nil)),
		Observe: func(event, outcome string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.tries = append(p.tries, event+" "+outcome)
		},
	})
	t.Cleanup(func() {
		p.hooks.Drain(ctx)
		cancel()
		require.NoError(t, p.store.Close())
	})
	return p
}

// receiver answers as the test says.
func receiver(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL + "/hook"
}

// won is a job of an owner that has succeeded, its one delivery pending.
func (p *postman) won(owner, key, url string) *jobs.Job {
	p.t.Helper()
	s, err := p.store.Submit(p.ctx, jobs.Submission{
		Owner: owner, Key: key, Fingerprint: "v1:a", Route: "print", Provider: "inkjet", Input: json.RawMessage(`"private words"`), WebhookURL: url,
	})
	require.NoError(p.t, err)
	c, err := p.store.Claim(p.ctx, jobs.ClaimRequest{JobID: s.Job.ID, Attempt: 1, Token: jobs.NewOp(), Provider: "inkjet", Deadline: time.Minute})
	require.NoError(p.t, err)
	_, err = p.store.Finalize(p.ctx, jobs.Ending{JobID: c.JobID, Attempt: 1, Fence: c.Fence, Effect: "done"}, json.RawMessage(`{"sheet":1}`), nil)
	require.NoError(p.t, err)
	return s.Job
}

func (p *postman) handle(job *jobs.Job) error {
	payload := fmt.Appendf(nil, `{"job":%q,"webhook":1}`, job.ID)
	return p.hooks.Handle(p.ctx, asynq.NewTask(tasks.TypeWebhook, payload))
}

func (p *postman) delivery(job *jobs.Job) jobs.Webhook {
	p.t.Helper()
	job, err := p.store.Get(p.ctx, job.ID)
	require.NoError(p.t, err)
	require.Len(p.t, job.Webhooks, 1)
	return job.Webhooks[0]
}

// postponed is for how long nobody is to look at a delivery.
func (p *postman) postponed(job *jobs.Job) time.Duration {
	p.t.Helper()
	keys, err := p.rdb.Keys(p.ctx, "oj:{*}:due").Result()
	require.NoError(p.t, err)
	for _, key := range keys {
		if at, err := p.rdb.ZScore(p.ctx, key, "webhook:"+job.ID+":h1").Result(); err == nil {
			now, err := p.store.Now(p.ctx)
			require.NoError(p.t, err)
			return time.UnixMilli(int64(at)).Sub(now)
		}
	}
	require.FailNow(p.t, "nothing is due")
	return 0
}

// However many tasks look at a delivery at once, one sends; nothing of it is told
// but to the receiver.
func TestWebhooks_OneOfManySends(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		p := hire(t, rdb)
		var calls atomic.Int64
		url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			w.WriteHeader(http.StatusNoContent)
		})
		job := p.won("dev", "k", url)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { assert.NoError(t, p.handle(job)) })
		}
		all.Wait()
		require.NoError(t, p.handle(job), "a task that comes late")
		require.EqualValues(t, 1, calls.Load())
		w := p.delivery(job)
		require.Equal(t, jobs.WebhookDelivered, w.State)
		require.Equal(t, 1, w.Tries)
		require.Equal(t, []string{"job.succeeded delivered"}, p.tries)
		require.Contains(t, p.log.String(), `"owner":"dev"`)
		for _, secret := range []string{hookSecret[6:], "private words", "sheet", "/hook"} {
			require.NotContains(t, p.log.String(), secret)
		}
	})
}

// A receiver that hangs holds up nobody else's deliveries, and its own wait without
// that being a try.
func TestWebhooks_OneReceiverHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	p := hire(t, redistest.Mini(t))
	inside, release := make(chan struct{}), make(chan struct{})
	hanging := receiver(t, func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-release
	})
	quick := receiver(t, func(http.ResponseWriter, *http.Request) {})
	stuck, waiting, other := p.won("dev", "k1", hanging), p.won("dev", "k2", hanging), p.won("dev", "k3", quick)
	ended := make(chan error, 1)
	go func() { ended <- p.handle(stuck) }()
	<-inside
	require.NoError(t, p.handle(other))
	require.Equal(t, jobs.WebhookDelivered, p.delivery(other).State)
	require.NoError(t, p.handle(waiting), "it does not wait with the others' workers")
	require.Zero(t, p.delivery(waiting).Tries)
	require.Positive(t, p.postponed(waiting))
	close(release)
	require.NoError(t, <-ended)
	require.Equal(t, jobs.WebhookDelivered, p.delivery(stuck).State)
}

// A receiver that asks for time is given it, also by deliveries of other jobs; those
// of other owners go on.
func TestWebhooks_SlowDown(t *testing.T) {
	t.Parallel()
	p := hire(t, redistest.Mini(t))
	var calls atomic.Int64
	url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	first, second := p.won("dev", "k1", url), p.won("dev", "k2", url)
	require.NoError(t, p.handle(first))
	w := p.delivery(first)
	require.Equal(t, http.StatusTooManyRequests, w.LastStatus)
	require.InDelta(t, time.Minute, p.postponed(first), float64(5*time.Second))
	require.NoError(t, p.handle(second))
	require.EqualValues(t, 1, calls.Load())
	require.Zero(t, p.delivery(second).Tries)
	require.InDelta(t, time.Minute, p.postponed(second), float64(5*time.Second))

	_, _, err := (&webhooks.Secrets{Redis: p.rdb}).Ensure(p.ctx, "other")
	require.NoError(t, err)
	require.NoError(t, p.handle(p.won("other", "k3", url)))
	require.EqualValues(t, 2, calls.Load())
}

// Nothing is sent that is not signed.
func TestWebhooks_WithoutASecret(t *testing.T) {
	t.Parallel()
	p := hire(t, redistest.Mini(t))
	var calls atomic.Int64
	job := p.won("nobody", "k", receiver(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	require.NoError(t, p.handle(job))
	require.Zero(t, calls.Load())
	w := p.delivery(job)
	require.Equal(t, jobs.WebhookPending, w.State)
	require.Contains(t, w.LastError, "onejob keys webhook-secret")
}

// A process that stops lets the tries under way end as long as it may, begins none,
// and gives up the rest: they are made again.
func TestWebhooks_Drain(t *testing.T) {
	t.Parallel()
	p := hire(t, redistest.Mini(t))
	inside, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	stuck := p.won("dev", "k1", receiver(t, func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-release
	}))
	ended := make(chan error, 1)
	go func() { ended <- p.handle(stuck) }()
	<-inside
	ctx, cancel := context.WithTimeout(p.ctx, 50*time.Millisecond)
	defer cancel()
	p.hooks.Drain(ctx)
	require.NoError(t, <-ended)
	w := p.delivery(stuck)
	require.Equal(t, jobs.WebhookPending, w.State)
	require.Equal(t, "the worker was stopped", w.LastError)

	late := p.won("dev", "k2", receiver(t, func(http.ResponseWriter, *http.Request) {}))
	require.NoError(t, p.handle(late))
	require.Zero(t, p.delivery(late).Tries)
}

func TestWebhooks_TasksThatLeadNowhere(t *testing.T) {
	t.Parallel()
	p := hire(t, redistest.Mini(t))
	err := p.hooks.Handle(p.ctx, asynq.NewTask(tasks.TypeWebhook, []byte("{}")))
	require.ErrorIs(t, err, asynq.SkipRetry)
	gone := &jobs.Job{ID: jobs.NewID("dev", "k")}
	require.NoError(t, p.handle(gone), "its record has expired")
}
