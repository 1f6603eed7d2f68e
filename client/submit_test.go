package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/client"
)

// TestSubmit_OneKeyOverAllTries: whatever goes wrong on the way, there is one job,
// and every try was the same to the byte.
func TestSubmit_OneKeyOverAllTries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mischief []mischief
		replayed bool // a try before the answered one made the job
	}{
		"nothing goes wrong":          {nil, false},
		"the answer is lost":          {[]mischief{dropped, dropped}, true},
		"the connection breaks":       {[]mischief{refused, refused, refused}, false},
		"the answer is cut":           {[]mischief{cut}, true},
		"half an answer, as if whole": {[]mischief{halved}, true},
		"it stalls":                   {[]mischief{stalled}, true},
		"a balancer without servers":  {[]mischief{says(503, "Retry-After", "0"), says(502), says(504), says(522)}, false},
		"a balancer gave up":          {[]mischief{doesAndSays(504), doesAndSays(502)}, true},
		"a server that is broken":     {[]mischief{says(500)}, false},
		"too many":                    {[]mischief{says(429, "Retry-After", "0"), says(429)}, false},
		"all of it":                   {[]mischief{says(503), dropped, cut, says(429), halved, doesAndSays(500), refused}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.proxy.do(c.mischief...)
			var tries []client.Attempted
			job, err := b.through(client.WithTryTimeout(2*time.Second), client.WithOnRetry(func(a client.Attempted) {
				tries = append(tries, a)
			})).Submit(b.ctx, client.Request{Route: "print", Input: page("")})
			require.NoError(t, err)
			posts, key := b.proxy.sent(t)
			require.Equal(t, len(c.mischief)+1, posts)
			require.Len(t, tries, len(c.mischief), "each is told of")
			require.Equal(t, key, job.IdempotencyKey, "the key that was made is the job's")
			require.Equal(t, c.replayed, job.Replayed)
			require.Equal(t, b.only().ID, job.ID)
		})
	}
}

func TestSubmit_AllItsFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job, err := b.direct.Submit(b.ctx, client.Request{
		Route: "print", Input: json.RawMessage(`{"page":"<&>","n":9007199254740993}`), Key: "mine", Provider: "laser",
		Params: map[string]any{"copies": 2}, Metadata: map[string]string{"order": "7"}, StartWithin: 90 * time.Second,
	})
	require.NoError(t, err)
	require.Equal(t, "mine", job.IdempotencyKey)
	require.Equal(t, "laser", job.Provider)
	require.Contains(t, string(job.Input), `"n":9007199254740993`)
	require.JSONEq(t, `{"copies":2}`, string(job.Params))
	require.Equal(t, map[string]string{"order": "7"}, job.Metadata)
	require.WithinDuration(t, time.Now().Add(90*time.Second), job.StartBy, time.Minute)
}

// TestSubmit_Keys: a key comes to the server as it was given, be it of characters
// that a header has to quote.
func TestSubmit_Keys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, key := range []string{"k1", `"k1"`, `a,b;c\d"e`, strings.Repeat("x", 255)} {
		job, err := b.direct.Submit(b.ctx, client.Request{Route: "print", Key: key})
		require.NoError(t, err, key)
		require.Equal(t, key, job.IdempotencyKey)
		require.Len(t, b.all(client.Query{Key: key}), 1, key)
	}
	for _, key := range []string{"a b", "a\nb", "schön", strings.Repeat("x", 256)} {
		_, err := b.direct.Submit(b.ctx, client.Request{Route: "print", Key: key})
		require.ErrorContains(t, err, "idempotency key", key)
		for _, err := range b.direct.List(b.ctx, client.Query{Key: key}) {
			require.ErrorContains(t, err, "idempotency key", key)
		}
	}
	first, second := client.NewKey(), client.NewKey()
	require.NotEqual(t, first, second)
}

// TestSubmit_Refused: a no is not sent again.
func TestSubmit_Refused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, err := b.direct.Submit(b.ctx, client.Request{Route: "print", Input: "a", Key: "k"})
	require.NoError(t, err)
	c := b.through()
	for name, x := range map[string]struct {
		request client.Request
		is      error
		field   string
	}{
		"the key belongs to another body": {client.Request{Route: "print", Input: "b", Key: "k"}, client.ErrConflict, ""},
		"no such route":                   {client.Request{Route: "fax"}, client.ErrRouteUnknown, "route"},
		"no such provider":                {client.Request{Route: "print", Provider: "dot"}, client.ErrInvalid, "provider"},
		"too large":                       {client.Request{Route: "print", Input: strings.Repeat("x", 1<<20)}, client.ErrTooLarge, ""},
	} {
		b.proxy.mu.Lock()
		b.proxy.posts = nil
		b.proxy.mu.Unlock()
		_, err := c.Submit(b.ctx, x.request)
		require.ErrorIs(t, err, x.is, name)
		var p *client.Problem
		require.ErrorAs(t, err, &p, name)
		require.Equal(t, x.field, p.Field, name)
		require.NotEmpty(t, p.Hint, name)
		if errors.Is(err, client.ErrConflict) {
			require.Equal(t, first.ID, p.Job)
		}
		posts, _ := b.proxy.sent(t)
		require.Equal(t, 1, posts, name)
	}
	_, err = b.direct.Submit(b.ctx, client.Request{Route: "print", Input: func() {}})
	require.ErrorContains(t, err, "JSON")
}

// TestSubmit_OutcomeUnknown: the context ends and nobody has answered; the error
// carries the key, and with it the job is found.
func TestSubmit_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(b.ctx)
	b.proxy.do(func(_ http.ResponseWriter, r *http.Request, pass func() (*http.Response, []byte)) {
		pass()
		cancel()
		<-r.Context().Done()
	})
	request := client.Request{Route: "print", Input: page("")}
	_, err := b.through().Submit(ctx, request)
	var unknown *client.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.ErrorIs(t, err, context.Canceled)
	require.Contains(t, err.Error(), "outcome of the submit unknown; submit again with key "+unknown.Key)

	request.Key = unknown.Key
	job, err := b.through().Submit(b.ctx, request)
	require.NoError(t, err)
	require.True(t, job.Replayed)
	require.Equal(t, b.only().ID, job.ID)
}

// TestSubmit_AfterALostTry: an answer that does not judge the key leaves open what
// the try before it did; one that does, settles it.
func TestSubmit_AfterALostTry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.through(client.WithRetryFor(time.Nanosecond))
	b.proxy.do(dropped)
	_, err := c.Submit(b.ctx, client.Request{Route: "print", Key: "a"})
	require.ErrorAs(t, err, new(*client.UnknownError), "no time for another try")

	c = b.through()
	b.proxy.do(dropped, says(http.StatusUnauthorized))
	_, err = c.Submit(b.ctx, client.Request{Route: "print", Key: "b"})
	require.ErrorAs(t, err, new(*client.UnknownError))
	var p *client.Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusUnauthorized, p.Status)
	require.NotContains(t, err.Error(), "\x1b", "what a stranger says is made harmless")

	b.proxy.do(refused)
	_, err = c.Submit(b.ctx, client.Request{Route: "fax", Key: "c"})
	require.ErrorIs(t, err, client.ErrRouteUnknown)
	require.NotErrorAs(t, err, new(*client.UnknownError), "the server has judged the body")
}

// TestSubmit_Unreachable: where nothing was sent, there is no doubt.
func TestSubmit_Unreachable(t *testing.T) {
	t.Parallel()
	c := newClient(t, "http://127.0.0.1:1", "dev-key", client.WithRetryFor(50*time.Millisecond))
	_, err := c.Submit(t.Context(), client.Request{Route: "print", Key: "k"})
	var unreachable *client.UnreachableError
	require.ErrorAs(t, err, &unreachable)
	require.Equal(t, "k", unreachable.Key)
	_, err = c.Get(t.Context(), "job_1")
	require.ErrorAs(t, err, &unreachable)
}

// TestShouldRetryFalse: the server's word counts for more than the status.
func TestShouldRetryFalse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.proxy.do(says(http.StatusServiceUnavailable, "X-Should-Retry", "false"))
	_, err := b.through().Get(b.ctx, "job_1")
	var p *client.Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusServiceUnavailable, p.Status)
}
