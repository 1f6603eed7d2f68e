package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

type eventPage struct {
	Data       []jobs.Event `json:"data"`
	HasMore    bool         `json:"has_more"`
	NextCursor string       `json:"next_cursor"`
}

func (b *bundle) events(job *jobs.Job, query string) eventPage {
	b.t.Helper()
	var page eventPage
	require.NoError(b.t, json.Unmarshal(b.get(devKey, "/v1/jobs/"+job.ID+"/events"+query).is(http.StatusOK).body, &page))
	return page
}

func verbs(events []jobs.Event) []string {
	out := []string{}
	for _, event := range events {
		out = append(out, event.Verb)
	}
	return out
}

func TestEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	claim := b.claim(job, 1)
	b.suspect(claim)
	b.finalize(claim, `{}`)
	all := b.events(job, "").Data
	require.Equal(t, "submit", all[0].Verb)
	require.Equal(t, "dev", all[0].Actor)
	require.Subset(t, verbs(all), []string{"submit", "claim", "suspect", "finalize"})

	first := b.events(job, "?limit=2")
	require.True(t, first.HasMore)
	rest := b.events(job, "?after="+first.NextCursor)
	require.False(t, rest.HasMore)
	require.Equal(t, all, append(first.Data, rest.Data...))
	exact := b.events(job, "?limit="+string(rune('0'+len(all))))
	require.False(t, exact.HasMore)
}

func TestEventsRefuse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/jobs/" + b.made("k1").ID + "/events"
	for query, field := range map[string]string{"?limit=0": "limit", "?limit=1001": "limit", "?since=1": "since", "?after=x": "after"} {
		require.Equal(t, field, b.get(devKey, path+query).problem(http.StatusBadRequest, "request-invalid").Field, query)
	}
	p := b.get(devKey, path, "Accept", "text/event-stream", "Last-Event-ID", "nonsense").problem(http.StatusBadRequest, "request-invalid")
	require.Equal(t, "after", p.Field)
	b.get(devKey, path, "Accept", "text/event-stream;q=0, application/json").is(http.StatusOK)
}

// stream is an open event stream.
type stream struct {
	t      *testing.T
	body   io.ReadCloser
	lines  *bufio.Scanner
	status int
	header http.Header
}

func (b *bundle) follow(job *jobs.Job, headers ...string) *stream {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/v1/jobs/"+job.ID+"/events", nil)
	require.NoError(b.t, err)
	r.Header.Set("Authorization", "Bearer "+devKey)
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.client.Do(r)
	require.NoError(b.t, err)
	b.t.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
	})
	return &stream{t: b.t, body: response.Body, lines: bufio.NewScanner(response.Body), status: response.StatusCode, header: response.Header}
}

// next reads one message: its fields by name; nil at the end of the stream.
func (s *stream) next() map[string]string {
	s.t.Helper()
	message := map[string]string{}
	for s.lines.Scan() {
		line := s.lines.Text()
		if line == "" {
			if len(message) > 0 {
				return message
			}
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		message[name] = value
	}
	require.NoError(s.t, s.lines.Err())
	return nil
}

// until reads events to the one for verb, and returns its id.
func (s *stream) until(verb string) string {
	s.t.Helper()
	for {
		message := s.next()
		require.NotNil(s.t, message, "the stream ended before %s", verb)
		var event jobs.Event
		if message["data"] != "" {
			require.NoError(s.t, json.Unmarshal([]byte(message["data"]), &event))
		}
		if event.Verb == verb {
			require.Equal(s.t, event.ID, message["id"])
			return event.ID
		}
	}
}

func TestEventStreamFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	s := b.follow(job)
	require.Equal(t, http.StatusOK, s.status)
	require.Equal(t, "text/event-stream", s.header.Get("Content-Type"))
	require.Equal(t, "no-store", s.header.Get("Cache-Control"))
	require.Equal(t, map[string]string{"retry": "2000"}, s.next())
	s.until("submit")
	claim := b.claim(job, 1)
	s.until("claim")
	b.suspect(claim)
	s.until("suspect")
	b.finalize(claim, `{"a":1}`)
	last := s.until("finalize")
	for message := s.next(); message != nil; message = s.next() {
		if message["event"] == "end" {
			require.Nil(t, s.next(), "nothing after the end")
			break
		}
		last = message["id"]
	}

	// Whoever comes back has read it all, and is told not to come again.
	require.Equal(t, http.StatusNoContent, b.follow(job, "Last-Event-ID", last).status)
}

func TestEventStreamResumes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	first := b.follow(job)
	last := first.until("submit")
	require.NoError(t, first.body.Close())
	claim := b.claim(job, 1)
	second := b.follow(job, "Last-Event-ID", last)
	second.next() // retry
	require.Contains(t, second.next()["data"], `"verb":"claim"`, "goes on after the last one seen")
	b.finalize(claim, `{}`)
	second.until("finalize")
}

// A failed job can be reopened: its stream stays open, and Stop ends it.
func TestEventStreamOfAFailedJobGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	s := b.follow(job)
	b.fail(b.claim(job, 1))
	s.until("fail")
	b.decide(devKey, job, "/attempts", "").is(http.StatusCreated)
	s.until("open")
	b.api.Stop()
	for message := s.next(); message != nil; message = s.next() {
		require.NotEqual(t, "end", message["event"])
	}
}

func TestEventStreamOfSomebodyElse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	b.get(otherKey, "/v1/jobs/"+job.ID+"/events", "Accept", "text/event-stream").problem(http.StatusNotFound, "not-found")
}
