package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/api/openai"
	"onejob/jobs"
)

// The provider's answer arrives as it was sent, digit by digit, and the call was
// the job that POST /v1/jobs would have made of it.
func TestAnswerIsTheProviders(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	await := b.chatting("k", hello)
	b.finalize(b.made(time.Minute), answer)
	got := await().is(http.StatusOK)
	require.Equal(t, sent, got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Empty(t, got.header.Get("Idempotent-Replayed"))

	job := b.job(got.jobID())
	require.Equal(t, "dev", job.Owner)
	require.Equal(t, "k", job.IdempotencyKey)
	require.Equal(t, "chat", job.Route)
	require.Equal(t, `{"messages":[{"role":"user","content":"hello"}]}`, string(job.Input))
	require.Equal(t, `{"seed":9007199254740993}`, string(job.Params))

	again := b.chat("k", hello).is(http.StatusOK)
	require.Equal(t, sent, again.body)
	require.Equal(t, job.ID, again.jobID())
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, b.count())
}

// One key and intent is one job, through both doors and however the answer is
// asked for.
func TestSameIntent(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	made, err := b.send(ctx, http.MethodPost, "/v1/jobs",
		`{"params":{"seed":9007199254740993},"input":{"messages":[{"content":"hello","role":"user"}]},"route":"chat"}`, "Idempotency-Key", "k")
	require.NoError(t, err)
	made.is(http.StatusAccepted)
	b.finalize(b.made(time.Minute), answer)
	for name, body := range map[string]string{
		"as it is":        hello,
		"another order":   `{"seed":9007199254740993,"messages":[{"content":"hello","role":"user"}],"model":"chat"}`,
		"stream: false":   strings.Replace(hello, "{", `{"stream":false,`, 1),
		"as a stream":     strings.Replace(hello, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1),
		"members of null": strings.Replace(hello, "{", `{"stream":null,"stream_options":null,`, 1),
	} {
		got := b.chat("k", body).is(http.StatusOK)
		require.Contains(t, made.body, `"id":"`+got.jobID()+`"`, name)
	}
	require.Equal(t, 1, b.count())

	for name, body := range map[string]string{
		"another number":  strings.Replace(hello, "993", "992", 1),
		"another message": strings.Replace(hello, "hello", "hallo", 1),
		"another model":   `{"model":"print","messages":[{"role":"user","content":"hello"}]}`,
		"one param less":  `{"model":"chat","messages":[{"role":"user","content":"hello"}]}`,
	} {
		got := b.chat("k", body)
		got.fault(http.StatusConflict, "idempotency_key_reused", "false")
		require.Contains(t, made.body, `"id":"`+got.jobID()+`"`, name)
	}
	require.Equal(t, 1, b.count(), "nothing was written")
}

// Requests with one key wait for one job, whoever came first, and a caller who
// hangs up stops nothing.
func TestAttach(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := b.send(ctx, http.MethodPost, completions, hello, "Idempotency-Key", "k")
		gone <- err
	}()
	claim := b.made(time.Minute)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)

	const callers = 20
	var awaits []func() *reply
	for range callers {
		awaits = append(awaits, b.chatting("k", hello))
	}
	b.finalize(claim, answer)
	for _, await := range awaits {
		got := await().is(http.StatusOK)
		require.Equal(t, claim.JobID, got.jobID())
		require.Equal(t, sent, got.body)
	}
	require.Equal(t, 1, b.count())
	require.Len(t, b.job(claim.JobID).Attempts, 1)
}

// Keys belong to their owner, who is told by the bearer key.
func TestOwners(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	owners := map[string]string{}
	for _, key := range []string{devKey, otherKey, operatorKey} {
		await := b.chatting("k", hello, "Authorization", "Bearer "+key)
		b.finalize(b.made(time.Minute), answer)
		id := await().is(http.StatusOK).jobID()
		owners[b.job(id).Owner] = id
	}
	require.Len(t, owners, 3)
	b.chat("k", hello, "Authorization", "Bearer "+viewerKey).fault(http.StatusForbidden, "forbidden", "")
	refused := b.chat("k", hello, "Authorization", "Bearer nobody")
	require.Equal(t, "authentication_error", refused.fault(http.StatusUnauthorized, "invalid_api_key", "").Type)
	require.NotEmpty(t, refused.header.Get("WWW-Authenticate"))
	b.chat("k", hello, "Authorization", "").fault(http.StatusUnauthorized, "invalid_api_key", "")
	require.Equal(t, 3, b.count())
}

// Without a key there is no job, and the caller is shown the line to add.
func TestKeyIsRequired(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	f := b.chat("", hello).fault(http.StatusBadRequest, "idempotency_key_missing", "")
	require.Equal(t, "Idempotency-Key", *f.Param)
	require.Equal(t, "invalid_request_error", f.Type)
	for _, line := range []string{
		`{ headers: { 'Idempotency-Key': 'order-1042' } }`, `extra_headers={"Idempotency-Key": "order-1042"}`,
		`option.WithHeader("Idempotency-Key", "order-1042")`,
	} {
		require.Contains(t, f.Message, line)
	}
	f = b.chat("a b", hello).fault(http.StatusBadRequest, "idempotency_key_invalid", "")
	require.Equal(t, "Idempotency-Key", *f.Param)
	require.Zero(t, b.count())
}

// A job that still runs when door_wait is over is no failure: the same request
// may be sent again, and gets the answer.
func TestWaitIsOver(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{Wait: 50 * time.Millisecond})
	got := b.chat("k", hello)
	f := got.fault(http.StatusGatewayTimeout, "job_not_ended", "true")
	require.Contains(t, f.Message, got.jobID())
	require.Contains(t, f.Message, "same Idempotency-Key")
	require.Equal(t, "1", got.header.Get("Retry-After"))
	b.finalize(b.made(time.Minute), answer)
	require.Equal(t, got.jobID(), b.chat("k", hello).is(http.StatusOK).jobID())
}

// An unknown outcome is waited for as long as it may settle by itself; when
// only a person can tell, the caller is told so, and not to send it again.
func TestUnknown(t *testing.T) {
	t.Parallel()
	t.Run("a late answer settles it", func(t *testing.T) {
		t.Parallel()
		b := setup(t, openai.Config{})
		await := b.chatting("k", hello)
		claim := b.made(time.Minute)
		b.suspect(claim, 0)
		attached := b.chatting("k", hello)
		b.finalize(claim, answer)
		require.Equal(t, sent, await().is(http.StatusOK).body)
		require.Equal(t, sent, attached().is(http.StatusOK).body)
	})
	t.Run("it is looked up", func(t *testing.T) {
		t.Parallel()
		b := setup(t, openai.Config{Wait: 5 * time.Second})
		await := b.chatting("k", hello)
		b.suspect(b.made(20*time.Millisecond), time.Hour) // nobody listens any more, but it will be asked for
		got := await()
		got.fault(http.StatusGatewayTimeout, "job_not_ended", "true")
	})
	t.Run("a person has to find out", func(t *testing.T) {
		t.Parallel()
		b := setup(t, openai.Config{})
		await := b.chatting("k", hello)
		claim := b.made(20 * time.Millisecond)
		b.suspect(claim, 0)
		got := await()
		f := got.fault(http.StatusGatewayTimeout, "outcome_unknown", "false")
		require.Contains(t, f.Message, claim.JobID)
		require.Contains(t, f.Message, "/v1/jobs/"+claim.JobID+"/attempts/1/resolve")
		require.Contains(t, f.Message, "timeout")
		require.Equal(t, claim.JobID, got.jobID())

		began := time.Now()
		b.chat("k", hello).fault(http.StatusGatewayTimeout, "outcome_unknown", "false")
		require.Less(t, time.Since(began), patience/2, "there is nothing to wait for")

		_, err := b.store.Resolve(t.Context(), jobs.Resolution{
			Decision: jobs.Decision{JobID: claim.JobID, Attempt: 1, Actor: "ops", Reason: "it is in the log"},
			Outcome:  "succeeded", Result: json.RawMessage(answer),
		})
		require.NoError(t, err)
		require.Equal(t, sent, b.chat("k", hello).is(http.StatusOK).body)
	})
}

// A failed job is answered as the failure it was, and never sent again by the
// client: the same key has the same answer.
func TestFailures(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]struct {
		status int
		kind   string
	}{
		"rate_limited":    {http.StatusTooManyRequests, "rate_limit_error"},
		"busy":            {http.StatusServiceUnavailable, "server_error"},
		"overloaded":      {http.StatusServiceUnavailable, "server_error"},
		"circuit_open":    {http.StatusServiceUnavailable, "server_error"},
		"rejected":        {http.StatusBadRequest, "invalid_request_error"},
		"refused":         {http.StatusBadRequest, "invalid_request_error"},
		"request_invalid": {http.StatusBadRequest, "invalid_request_error"},

		"unauthorized_at_provider": {http.StatusBadGateway, "server_error"},
		"contract_violation":       {http.StatusBadGateway, "server_error"},
		"not_sent":                 {http.StatusBadGateway, "server_error"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := setup(t, openai.Config{})
			await := b.chatting("k", hello)
			claim := b.made(time.Minute)
			b.fail(claim, reason)
			got := await()
			f := got.fault(want.status, reason, "false")
			require.Equal(t, want.kind, f.Type)
			require.Contains(t, f.Message, claim.JobID)
			require.Contains(t, f.Message, "it said no.")
			require.Empty(t, got.header.Get("Retry-After"))
			require.Equal(t, claim.JobID, got.jobID())
			b.chat("k", hello).fault(want.status, reason, "false")
			b.chat("k", strings.Replace(hello, "{", `{"stream":true,`, 1)).fault(want.status, reason, "false")
		})
	}
}

// The code says why nobody else was asked, the status what had gone wrong.
func TestFailover(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	await := b.chatting("k", hello)
	claim := b.made(time.Minute)
	_, err := b.store.Fail(t.Context(), ending(claim), jobs.Failure{
		Reason: "rate_limited", Message: "slow down", Retryable: true, Policy: &jobs.Policy{
			MaxAttempts: 2, Tries: 1, Failover: "certified", Providers: []jobs.PolicyProvider{{Name: "gpt"}, {Name: "other"}},
		},
	})
	require.NoError(t, err)
	f := await().fault(http.StatusTooManyRequests, "failover_not_certified", "false")
	require.Contains(t, f.Message, "onejob contract verify")
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	await := b.chatting("k", hello)
	claim := b.made(time.Minute)
	_, err := b.store.CancelJob(t.Context(), jobs.Decision{JobID: claim.JobID, Actor: "dev"})
	require.NoError(t, err)
	require.Contains(t, await().fault(http.StatusConflict, "job_cancelled", "false").Message, claim.JobID)
}

// A key that outlived its job's record runs nothing again.
func TestExpired(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	await := b.chatting("k", hello)
	claim := b.made(time.Minute)
	b.finalize(claim, answer)
	await().is(http.StatusOK)
	b.redis.FastForward(73 * time.Hour)
	got := b.chat("k", hello)
	got.fault(http.StatusGone, "idempotency_key_expired", "false")
	require.Equal(t, claim.JobID, got.jobID())
	require.Empty(t, b.wakes)
}

// A process that stops lets its callers go, to come back to another.
func TestStopping(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	await := b.chatting("k", hello)
	streaming := b.chatting("k", strings.Replace(hello, "{", `{"stream":true,`, 1))
	claim := b.made(time.Minute)
	b.api.Stop()
	got := await()
	require.Contains(t, got.fault(http.StatusServiceUnavailable, "server_stopping", "true").Message, claim.JobID)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	stream := streaming()
	if stream.status == http.StatusOK { // it had begun
		require.Contains(t, stream.body, "server_stopping")
		require.NotContains(t, stream.body, "[DONE]")
	}
}

// A store that is away is said to be, in the envelope of the door.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{Wait: 3 * time.Second})
	b.redis.SetError("LOADING the store is away")
	got := b.chat("k", hello)
	got.fault(http.StatusServiceUnavailable, "store_unavailable", "")
	require.Equal(t, "2", got.header.Get("Retry-After"))
	b.redis.SetError("")

	await := b.chatting("k", hello)
	claim := b.made(time.Minute)
	b.redis.SetError("LOADING the store is away")
	await().fault(http.StatusServiceUnavailable, "store_unavailable", "")
	b.redis.SetError("")
	b.finalize(claim, answer)
	b.chat("k", hello).is(http.StatusOK)
	require.Equal(t, 1, b.count())
}
