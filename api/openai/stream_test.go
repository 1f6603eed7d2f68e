package openai_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/api/openai"
)

var streamed = strings.Replace(hello, "{", `{"stream":true,`, 1)

// line reads the next line of a stream that says something.
func line(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		if lines.Text() != "" {
			return lines.Text()
		}
	}
	require.NoError(t, lines.Err())
	return "" // the end
}

// open begins a stream.
func (b *bundle) open(ctx context.Context, key string) *http.Response {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+completions, strings.NewReader(streamed))
	require.NoError(b.t, err)
	r.Header = http.Header{
		"Authorization": {"Bearer " + devKey}, "Content-Type": {"application/json"}, "Idempotency-Key": {key},
	}
	response, err := b.client.Do(r)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// While the job runs, comments come and nothing else; then the whole answer.
func TestStream(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{Heartbeat: 20 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	response := b.open(ctx, "k") // the headers come at once, before any answer
	claim := b.made(time.Minute)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	require.Equal(t, "no", response.Header.Get("X-Accel-Buffering"))
	require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	require.Equal(t, claim.JobID, response.Header.Get("X-Job-Id"))
	lines := bufio.NewScanner(response.Body)
	for range 5 {
		require.Equal(t, ": waiting for job "+claim.JobID, line(t, lines))
	}
	b.finalize(claim, answer)
	next := line(t, lines)
	for strings.HasPrefix(next, ":") {
		next = line(t, lines)
	}
	const all = `"created":1,"id":"chatcmpl-7","model":"gpt-5","object":"chat.completion.chunk"}`
	require.Equal(t, `data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0}],`+all, next)
	require.Equal(t, `data: {"choices":[{"delta":{"content":"Good day."},"finish_reason":null,"index":0}],`+all, line(t, lines))
	require.Equal(t, `data: {"choices":[{"delta":{},"finish_reason":"stop","index":0}],`+all, line(t, lines))
	require.Equal(t, "data: [DONE]", line(t, lines))
	require.Empty(t, line(t, lines))
}

// What a stream of an ended job says is what one that waited says.
func TestStreamAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	await := b.chatting("k", streamed)
	claim := b.made(time.Minute)
	b.finalize(claim, answer)
	first := await().is(http.StatusOK)
	again := b.chat("k", streamed).is(http.StatusOK)
	require.Equal(t, claim.JobID, again.jobID())
	require.NotContains(t, again.body, ": waiting")
	require.True(t, strings.HasSuffix(first.body, again.body))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
}

// Once a stream has begun, what goes wrong is an event, and no [DONE] follows.
func TestStreamFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config openai.Config
		end    func(b *bundle)
		code   string
	}{
		"the job fails": {end: func(b *bundle) { b.fail(b.made(time.Minute), "rejected") }, code: "rejected"},
		"a person has to find out": {
			end: func(b *bundle) { b.suspect(b.made(20*time.Millisecond), 0) }, code: "outcome_unknown",
		},
		"the wait is over": {
			config: openai.Config{Wait: 200 * time.Millisecond}, end: func(b *bundle) { b.made(time.Minute) }, code: "job_not_ended",
		},
		"the store is away": {
			config: openai.Config{Wait: 3 * time.Second},
			end: func(b *bundle) {
				b.made(time.Minute)
				b.redis.SetError("LOADING the store is away")
			},
			code: "store_unavailable",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, test.config)
			await := b.chatting("k", streamed)
			test.end(b)
			got := await().is(http.StatusOK)
			events := strings.Split(strings.TrimSpace(got.body), "\n\n")
			for _, comment := range events[:len(events)-1] {
				require.True(t, strings.HasPrefix(comment, ": waiting"), got.body)
			}
			data, ok := strings.CutPrefix(events[len(events)-1], "data: ")
			require.True(t, ok, got.body)
			f := readFault(t, data)
			require.Equal(t, test.code, f.Code)
			require.NotEmpty(t, f.Type)
			require.NotContains(t, got.body, "[DONE]")
		})
	}
}

// A caller who hangs up in the middle stops nothing, and finds his answer.
func TestStreamHangsUp(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{Heartbeat: 10 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	response := b.open(ctx, "k")
	claim := b.made(time.Minute)
	require.NotEmpty(t, line(t, bufio.NewScanner(response.Body)))
	cancel()
	b.finalize(claim, answer)
	got := b.chat("k", streamed).is(http.StatusOK)
	require.Equal(t, claim.JobID, got.jobID())
	require.Contains(t, got.body, "Good day.")
	require.Equal(t, 1, b.count())
}
