package tracing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"onejob/app"
)

// A caller's trace context, as W3C's own example has it.
const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
	caller       = "00-" + callersTrace + "-" + callersSpan + "-01"
	otherCaller  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
)

// TestOneTrace: the POST, its wake-up, every attempt and every call are one trace, the
// caller's; the provider is called within the span of the call; what the plan tries
// next hangs below what failed.
func TestOneTrace(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder(http.StatusServiceUnavailable, http.StatusOK))
	s.open()
	id := s.post("k", caller, 20)

	submit := s.span("POST /v1/jobs")
	require.Equal(t, callersTrace, submit.SpanContext.TraceID().String())
	require.Equal(t, callersSpan, submit.Parent.SpanID().String())
	require.Equal(t, trace.SpanKindServer, submit.SpanKind)
	require.Equal(t, id, attribute(submit, "onejob.job.id"))
	require.Equal(t, "200", attribute(submit, "http.response.status_code"))
	require.Empty(t, attribute(submit, "onejob.replayed"))

	first := with("onejob.attempt", 1)
	enqueue, attempt, call := s.span("enqueue", first), s.span("attempt", first), s.span("call", first)
	below(t, submit, enqueue)
	below(t, enqueue, attempt)
	below(t, attempt, call)
	require.Equal(t, trace.SpanKindProducer, enqueue.SpanKind)
	require.Equal(t, trace.SpanKindConsumer, attempt.SpanKind)
	require.Equal(t, trace.SpanKindClient, call.SpanKind)
	require.Equal(t, []string{"sent", "answer"}, events(call))
	require.Equal(t, "503", attribute(call, "http.response.status_code"))
	require.Equal(t, codes.Error, call.Status.Code)
	for key, value := range map[string]string{
		"onejob.job.id": id, "onejob.route": "print", "onejob.provider": "press", "onejob.fence": "1",
		"onejob.outcome": "failed", "onejob.state": "queued",
	} {
		require.Equal(t, value, attribute(attempt, key), key)
	}
	require.Equal(t, codes.Error, attempt.Status.Code)
	require.NotEmpty(t, attribute(attempt, "onejob.reason"))

	again := with("onejob.attempt", 2)
	enqueue2, attempt2, call2 := s.span("enqueue", again), s.span("attempt", again), s.span("call", again)
	below(t, attempt, enqueue2)
	below(t, enqueue2, attempt2)
	below(t, attempt2, call2)
	require.Equal(t, traceparent(call), s.press.next(t).traceparent, "the provider is called within the call's span")
	require.Equal(t, traceparent(call2), s.press.next(t).traceparent)
	require.Equal(t, "succeeded", attribute(attempt2, "onejob.outcome"))
	require.Equal(t, codes.Unset, attempt2.Status.Code)
}

// TestWokenAgain: a wake-up that was deleted is made again by the sweeper, without
// a word of the trace; the attempt finds it in its job.
func TestWokenAgain(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder(http.StatusOK))
	s.api = s.start(app.WithAPI())
	id := s.post("k", "", 0)
	submit, enqueue := s.span("POST /v1/jobs"), s.span("enqueue")
	below(t, submit, enqueue)
	require.NoError(t, s.inspector().DeleteTask("press", id+"-a1"))

	s.start(app.WithWorker())
	got := s.press.next(t)
	attempt, call := s.span("attempt"), s.span("call")
	below(t, submit, attempt)
	below(t, attempt, call)
	require.Equal(t, traceparent(call), got.traceparent)
}

// TestUnknown: silence is an event of the attempt, and who settles it later does so in
// the same trace.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder(silent))
	s.more = fmt.Sprintf(", lookup_url: %q", s.press.URL+"/status/{attempt}")
	s.open()
	s.post("k", caller, 0)
	submit := s.span("POST /v1/jobs")
	look := s.span("look-up", with("onejob.outcome", "succeeded"))
	below(t, submit, look)
	require.Equal(t, trace.SpanKindClient, look.SpanKind)
	attempt := s.span("attempt")
	require.Equal(t, []string{"unknown"}, events(attempt))
	require.Equal(t, []string{"sent"}, events(s.span("call")))
}

// TestReplay: a POST with a known key has a span of its own, in its caller's trace,
// which says so and links to the trace that made the job.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder())
	s.api = s.start(app.WithAPI())
	first := s.post("k", caller, 0)
	submit := s.span("POST /v1/jobs")
	require.Equal(t, first, s.post("k", otherCaller, 0))

	replay := s.span("POST /v1/jobs", with("onejob.replayed", true))
	require.NotEqual(t, callersTrace, replay.SpanContext.TraceID().String())
	require.Len(t, replay.Links, 1)
	require.Equal(t, submit.SpanContext.SpanID(), replay.Links[0].SpanContext.SpanID())
	require.Equal(t, first, attribute(replay, "onejob.job.id"))

	s.post("k", caller, 0)
	require.Eventually(t, func() bool { return len(s.spans.GetSpans().Snapshots()) >= 4 }, patience, 10*time.Millisecond)
	for _, span := range s.spans.GetSpans() {
		if span.SpanContext.TraceID().String() == callersTrace {
			require.Empty(t, span.Links, "a trace does not link to itself")
		}
	}
	require.Len(t, s.spans.GetSpans(), 4, "one enqueue: a replay wakes nobody")
}

// TestPersonsAttempt: what a person opens is in the person's trace, linked to the job's.
func TestPersonsAttempt(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder(http.StatusUnprocessableEntity, http.StatusOK))
	s.open()
	id := s.post("k", caller, 20)
	s.call(http.MethodPost, "/v1/jobs/"+id+"/attempts", "", otherCaller, 0, `{"reason":"paper is back"}`)
	opened := s.span("POST /v1/jobs/:id/attempts")
	second := with("onejob.attempt", 2)
	enqueue, attempt := s.span("enqueue", second), s.span("attempt", second)
	below(t, opened, enqueue)
	below(t, enqueue, attempt)
	for _, span := range []trace.Link{{SpanContext: opened.Links[0].SpanContext}, {SpanContext: attempt.Links[0].SpanContext}} {
		require.Equal(t, callersTrace, span.SpanContext.TraceID().String())
	}
}

// TestNotSampled: a caller's decision against a trace is followed, and passed on.
func TestNotSampled(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder(http.StatusOK))
	s.open()
	s.post("k", "00-"+callersTrace+"-"+callersSpan+"-00", 20)
	require.Regexp(t, "^00-"+callersTrace+"-[0-9a-f]{16}-00$", s.press.next(t).traceparent)
	require.Empty(t, s.spans.GetSpans())
}

// TestOff: without tracing the provider is told the caller's trace context as it
// came, also on the next try, and nothing else is made: no headers, no spans.
func TestOff(t *testing.T) {
	t.Parallel()
	s := openShop(t, func(r received) int {
		if strings.HasSuffix(r.attempt, "-a1") {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	s.off = true
	s.api = s.start(app.WithAPI())
	id := s.post("k", caller, 0)
	plain := s.post("plain", "", 0)
	malformed := s.post("malformed", "00-zz-b7ad6b7169203331-01", 0)
	require.Eventually(t, func() bool {
		waiting, err := s.inspector().ListPendingTasks("press")
		return err == nil && len(waiting) == 3
	}, patience, 10*time.Millisecond)
	waiting, err := s.inspector().ListPendingTasks("press")
	require.NoError(t, err)
	for _, task := range waiting {
		require.Empty(t, task.Headers)
	}
	s.start(app.WithWorker())
	got := map[string]string{}
	for range 6 {
		call := s.press.next(t)
		got[call.attempt] = call.traceparent
	}
	require.Equal(t, map[string]string{
		id + "-a1": caller, id + "-a2": caller, plain + "-a1": "", plain + "-a2": "", malformed + "-a1": "", malformed + "-a2": "",
	}, got)
	require.Empty(t, s.spans.GetSpans())
}
