package client_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/client"
)

// trail is all there is to read so far.
func (b *bundle) trail(id string) []client.Event {
	b.t.Helper()
	var all []client.Event
	for event, err := range b.direct.Trail(b.ctx, id) {
		require.NoError(b.t, err)
		all = append(all, event)
	}
	return all
}

// TestEvents_EachOnceInOrder: over connections that break again and again.
func TestEvents_EachOnceInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job, err := b.direct.Do(b.ctx, client.Request{Route: "print", Input: page("")})
	require.NoError(t, err)
	want := b.trail(job.ID)
	require.Equal(t, "submit", want[0].Verb)

	b.proxy.do(refused, says(503), firstEvent, halvedEvent, dropped)
	var got []client.Event
	for event, err := range b.through(client.WithRetryFor(0)).Events(b.ctx, job.ID, "") {
		require.NoError(t, err)
		got = append(got, event)
	}
	require.Equal(t, want, got)

	for event, err := range b.direct.Events(b.ctx, job.ID, want[len(want)-1].ID) {
		require.Fail(t, "nothing is left", "%v %v", event, err)
	}
	for event, err := range b.direct.Events(b.ctx, job.ID, want[0].ID) {
		require.NoError(t, err)
		require.Equal(t, want[1], event)
		break
	}
}

// firstEvent sends the first event of what is left, and breaks off.
func firstEvent(w http.ResponseWriter, _ *http.Request, pass func() (*http.Response, []byte)) {
	sendEvents(w, pass, 1, "")
}

// halvedEvent sends one event and half of the next.
func halvedEvent(w http.ResponseWriter, _ *http.Request, pass func() (*http.Response, []byte)) {
	sendEvents(w, pass, 1, "id: 9999999999999-0\ndata: {\"id\":\"half")
}

func sendEvents(w http.ResponseWriter, pass func() (*http.Response, []byte), n int, rest string) {
	_, body := pass()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = w.Write(append(firstMessages(body, n), rest...))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// firstMessages are the first n messages of a stream that hold data.
func firstMessages(stream []byte, n int) []byte {
	rest := stream
	for n > 0 {
		at := bytes.Index(rest, []byte("\n\n"))
		if at < 0 {
			break
		}
		if bytes.Contains(rest[:at], []byte("data:")) {
			n--
		}
		rest = rest[at+2:]
	}
	return stream[:len(stream)-len(rest)]
}

// TestEvents_Live: what happens comes while it happens, and the end ends it.
func TestEvents_Live(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknownJob()
	var verbs []string
	for event, err := range b.direct.Events(b.ctx, job.ID, "") {
		require.NoError(t, err)
		verbs = append(verbs, event.Verb)
		if event.Verb == "suspect" {
			_, err := b.direct.Cancel(b.ctx, job.ID, client.Decision{Reason: "enough"})
			require.NoError(t, err)
		}
		if event.Verb == "cancel" {
			require.Equal(t, "enough", event.Reason)
		}
	}
	require.Contains(t, verbs, "cancel")
}

// TestEvents_SilentConnection: one that brings no heartbeats is given up.
func TestEvents_SilentConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job, err := b.direct.Do(b.ctx, client.Request{Route: "print", Input: page("")})
	require.NoError(t, err)
	silent := func(w http.ResponseWriter, r *http.Request, _ func() (*http.Response, []byte)) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, ": hello\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	mute := func(_ http.ResponseWriter, r *http.Request, _ func() (*http.Response, []byte)) { <-r.Context().Done() }
	b.proxy.do(silent, mute)
	n := 0
	for _, err := range b.through(client.Hasty(200*time.Millisecond)).Events(b.ctx, job.ID, "") {
		require.NoError(t, err)
		n++
	}
	require.Len(t, b.trail(job.ID), n)
}

func TestEvents_Refused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.unknownJob()
	only := func(ctx context.Context, c *client.Client, id, after string) error {
		var errs []error
		for _, err := range c.Events(ctx, id, after) {
			errs = append(errs, err)
		}
		require.Len(t, errs, 1)
		return errs[0]
	}
	require.ErrorIs(t, only(b.ctx, b.direct, "job_0", ""), client.ErrNotFound)
	require.ErrorIs(t, only(b.ctx, b.direct, job.ID, "nonsense"), client.ErrInvalid)
	require.ErrorContains(t, only(b.ctx, b.direct, "a/b", ""), "not the id")
	b.proxy.do(says(http.StatusOK, "Content-Type", "text/html"))
	require.ErrorContains(t, only(b.ctx, b.through(), job.ID, ""), "no event stream")
	b.proxy.do(func(w http.ResponseWriter, _ *http.Request, _ func() (*http.Response, []byte)) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "data: not JSON\n\n")
	})
	require.ErrorContains(t, only(b.ctx, b.through(), job.ID, ""), "no event of a job")

	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	var last error
	for event, err := range b.direct.Events(ctx, job.ID, "") {
		if event.Verb == "suspect" {
			cancel()
		}
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
}

func TestList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 5 {
		_, err := b.direct.Do(b.ctx, client.Request{Route: "print", Key: fmt.Sprint("k", i)})
		require.NoError(t, err)
	}
	all := b.all(client.Query{PageSize: 2, State: client.Succeeded, Route: "print", Owner: "dev"})
	require.Len(t, all, 5)
	require.Equal(t, "k4", all[0].IdempotencyKey, "newest first, over all pages")
	require.Equal(t, "k0", all[4].IdempotencyKey)
	require.Empty(t, b.all(client.Query{State: client.Failed}))
	require.Empty(t, b.all(client.Query{Provider: "laser"}))
	require.Len(t, b.all(client.Query{Since: all[1].CreatedAt}), 2)
	require.Len(t, b.all(client.Query{Until: all[1].CreatedAt}), 3)
	for job, err := range b.direct.List(b.ctx, client.Query{Owner: "other"}) {
		require.Nil(t, job)
		require.ErrorIs(t, err, client.ErrForbidden)
	}
	for _, err := range b.direct.List(b.ctx, client.Query{PageSize: 1}) {
		require.NoError(t, err)
		break // and asks for no more
	}
}
