package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// listen opens the event stream; the names of its events come through the channel,
// which is closed when the stream ends.
func (b *browser) listen() <-chan string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*patience)
	b.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+"/dashboard/stream", nil)
	require.NoError(b.t, err)
	r.Header.Set("Accept", "text/event-stream")
	r.AddCookie(&http.Cookie{Name: "oj_session", Value: b.cookies["oj_session"]})
	response, err := b.server.Client().Do(r)
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusOK, response.StatusCode)
	require.Equal(b.t, "text/event-stream", response.Header.Get("Content-Type"))
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		defer func() { _ = response.Body.Close() }()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				events <- name
			} else if strings.HasPrefix(lines.Text(), "retry: ") {
				events <- "open"
			}
		}
	}()
	require.Equal(b.t, "open", b.next(events))
	return events
}

// next is the next event; empty when the stream has ended.
func (b *browser) next(events <-chan string) string {
	b.t.Helper()
	select {
	case name := <-events:
		return name
	case <-time.After(patience):
		require.FailNow(b.t, "no event came")
		return ""
	}
}

func (s *site) newJob(key string) {
	s.t.Helper()
	_, err := s.store.Submit(s.t.Context(), jobs.Submission{
		Owner: "dev", Key: key, Fingerprint: "v1:x", Route: "print", Provider: "inkjet", Input: json.RawMessage(`{}`),
	})
	require.NoError(s.t, err)
}

// A page hears of a change, and of many changes at once no more than once a second.
func TestTheStreamTellsOfChanges(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.viewer)
	events := b.listen()
	require.Eventually(t, func() bool { return s.rdb.PubSubNumPat(t.Context()).Val() == 1 }, patience, time.Millisecond)
	began := time.Now()
	s.newJob("first")
	require.Equal(t, "changed", b.next(events))
	for i := range 200 {
		s.newJob(strings.Repeat("k", i+1))
	}
	heard := 1
	for end := time.After(1500 * time.Millisecond); ; {
		select {
		case name := <-events:
			if name == "changed" {
				heard++
			}
			continue
		case <-end:
		}
		break
	}
	require.GreaterOrEqual(t, heard, 2)
	require.LessOrEqual(t, heard, int(time.Since(began)/time.Second)+1)
}

func TestTheStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	events := b.listen()
	require.NoError(t, s.keys.Revoke(t.Context(), s.operatorKey.ID))
	require.Equal(t, "ended", b.next(events))
	require.Empty(t, b.next(events), "and it is closed")
}

func TestTheStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	events := b.listen()
	s.pages.Stop()
	require.Empty(t, b.next(events))
}

func TestTheStreamIsForWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	s := open(t)
	answer := s.browser().get("/dashboard/stream", "Accept", "text/event-stream")
	require.Contains(t, answer.body, "unauthorized")
	answer = s.signedIn(s.viewer).get("/dashboard/stream")
	require.Equal(t, http.StatusBadRequest, answer.status, "one who does not ask for events would wait for ever")
}
