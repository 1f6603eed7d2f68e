package tracing_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"onejob/app"
	"onejob/config"
	"onejob/redistest"
)

// Secrets that no span may show.
const (
	secretKey    = "dev-key"
	secretInput  = "my-diary"
	secretHeader = "press-password"
)

// shop is one store, one provider, and the processes over them; spans of all of them
// come together.
type shop struct {
	t     *testing.T
	rdb   *redis.Client
	press *press
	spans *tracetest.InMemoryExporter
	wrote *sdktrace.TracerProvider
	off   bool   // no spans are made
	more  string // keys of the provider

	sections string // of the configuration
	api      *app.App
}

// openShop has a provider that answers creates as answer says.
func openShop(t *testing.T, answer func(received) int) *shop {
	t.Helper()
	s := &shop{t: t, rdb: redistest.Real(t), press: startPress(t, answer), spans: tracetest.NewInMemoryExporter()}
	s.wrote = sdktrace.NewTracerProvider(sdktrace.WithSyncer(s.spans))
	return s
}

// start runs a process until the end of the test.
func (s *shop) start(options ...app.Option) *app.App {
	s.t.Helper()
	o := s.rdb.Options()
	cfg, err := config.Parse("test", fmt.Appendf(nil, `
redis: {url: "redis://%s/%d"}
drain: 1s
lease: 3s
beat: 1s
providers:
  press: {type: http, url: %q, timeout: 1s, deadline: 4s, headers: {Authorization: %s}%s}
routes:
  print: {providers: [press], tries: 3, backoff: {initial: 10ms, max: 10ms}}
%s
`, o.Addr, o.DB, s.press.URL, secretHeader, s.more, s.sections), nil, config.WithAddr("127.0.0.1:0"))
	require.NoError(s.t, err)
	options = append(options, app.WithDevKeys())
	if !s.off {
		options = append(options, app.WithTracerProvider(s.wrote))
	}
	a := app.New(cfg, options...)
	require.NoError(s.t, a.Start(s.t.Context()))
	s.t.Cleanup(func() { require.NoError(s.t, a.Close()) })
	return a
}

func (s *shop) open() {
	s.t.Helper()
	s.api = s.start(app.WithAPI(), app.WithWorker())
}

// post submits a job and returns its id.
func (s *shop) post(key, traceparent string, wait int) string {
	s.t.Helper()
	return s.call(http.MethodPost, "/v1/jobs", key, traceparent, wait, `{"route":"print","input":{"page":"`+secretInput+`"}}`)
}

// call makes a request and returns the id of the job it answers with.
func (s *shop) call(method, path, key, traceparent string, wait int, body string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.api.Addr()+path, strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+secretKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", fmt.Sprintf("wait=%d", wait))
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	if traceparent != "" {
		request.Header.Set("Traceparent", traceparent)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.Less(s.t, response.StatusCode, 300, string(text))
	var job struct {
		ID string `json:"id"`
	}
	require.NoError(s.t, json.Unmarshal(text, &job))
	return job.ID
}

// span waits for a span of that name which satisfies where, and returns it.
func (s *shop) span(name string, where ...func(tracetest.SpanStub) bool) tracetest.SpanStub {
	s.t.Helper()
	var found tracetest.SpanStub
	require.Eventually(s.t, func() bool {
	spans:
		for _, span := range s.spans.GetSpans() {
			if span.Name != name {
				continue
			}
			for _, ok := range where {
				if !ok(span) {
					continue spans
				}
			}
			found = span
			return true
		}
		return false
	}, patience, 10*time.Millisecond, "no such span: %s", name)
	return found
}

// with tells whether a span carries an attribute.
func with(key string, value any) func(tracetest.SpanStub) bool {
	return func(span tracetest.SpanStub) bool { return attribute(span, key) == fmt.Sprint(value) }
}

func attribute(span tracetest.SpanStub, key string) string {
	for _, kv := range span.Attributes {
		if string(kv.Key) == key {
			return kv.Value.String()
		}
	}
	return ""
}

func events(span tracetest.SpanStub) []string {
	names := make([]string, len(span.Events))
	for i, event := range span.Events {
		names[i] = event.Name
	}
	return names
}

// below says that child is directly below parent, in the same trace.
func below(t *testing.T, parent, child tracetest.SpanStub) {
	t.Helper()
	require.Equal(t, parent.SpanContext.TraceID(), child.SpanContext.TraceID(), "%s and %s are in two traces", parent.Name, child.Name)
	require.Equal(t, parent.SpanContext.SpanID(), child.Parent.SpanID(), "%s is not below %s", child.Name, parent.Name)
}

// traceparent is what whoever is called within a span is told.
func traceparent(span tracetest.SpanStub) string {
	return fmt.Sprintf("00-%s-%s-%s", span.SpanContext.TraceID(), span.SpanContext.SpanID(), span.SpanContext.TraceFlags())
}

// inspector looks at the queues.
func (s *shop) inspector() *asynq.Inspector { return asynq.NewInspectorFromRedisClient(s.rdb) }
