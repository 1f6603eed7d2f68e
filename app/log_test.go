package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/config"
	"onejob/logtest"
	"onejob/providers"
)

// Every secret and every payload of these tests has this in it.
const private = "hunter2"

// chatty is a provider that repeats what it is told, in whatever answer it is asked
// for by the input; one that is to wait answers when released.
func chatty(w http.ResponseWriter, r *http.Request, released <-chan struct{}) {
	body, _ := io.ReadAll(r.Body)
	if strings.Contains(string(body), "please wait") {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	}
	echo, _ := json.Marshal(string(body) + r.Header.Get("Authorization") + private)
	switch {
	case strings.Contains(r.URL.Path, "cancel"), strings.Contains(string(body), "please refuse"):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%s,"code":%s}}`, echo, echo)
	case strings.Contains(string(body), "please break"):
		_, _ = io.WriteString(w, `{"private": "`+private)
	case strings.Contains(r.URL.Path, "lookup"):
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(echo)
	default:
		_, _ = fmt.Fprintf(w, `{"said": %s}`, echo)
	}
}

// panicky is a provider type that panics with what it was given.
type panicky struct{}

func (panicky) Execute(_ context.Context, call *providers.Call) providers.Outcome {
	panic("cannot print " + string(call.Input))
}

// No line at any level has a secret or a payload in it: not keys, not credentials, not
// inputs, parameters, results or what providers say, whatever goes wrong.
func TestLog_HasNoSecretsAndNoPayloads(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { chatty(w, r, released) }))
	t.Cleanup(provider.Close)
	cfg := parse(t, fmt.Sprintf(`
drain: 1s
beat: 1s
lease: 5s
providers:
  chatty: {type: http, url: "%[1]s/print", lookup_url: "%[1]s/lookup/{attempt}", cancel_url: "%[1]s/cancel/{attempt}",
           headers: {Authorization: "Bearer %[2]s-credential"}, timeout: 1s, deadline: 10s}
  gpt: {type: openai, base_url: "%[1]s/v1", api_key: "%[2]s-api-key", model: m, timeout: 1s, deadline: 2s}
  panicky: {type: panicky, timeout: 1s, deadline: 2s}
routes:
  print: {providers: [chatty], params: [tone]}
  chat: {providers: [gpt]}
  panic: {providers: [panicky]}
`, provider.URL, private), config.WithTypes("panicky"))
	log := &logtest.Buffer{}
	a := started(t, cfg, WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys(),
		WithLog(slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		WithProvider("panicky", func(providers.Config) (providers.Provider, error) { return panicky{}, nil }))

	n := 0
	send := func(method, path, body string, headers ...string) string {
		n++
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+a.Addr()+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer dev-key")
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", fmt.Sprintf("%s-key-%d", private, n))
		request.Header.Set("Prefer", "wait=1")
		for i := 0; i+1 < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return string(text)
	}
	submit := func(route, please string, headers ...string) string {
		return send(http.MethodPost, "/v1/jobs", fmt.Sprintf(
			`{"route":%q,"input":{"text":%q,"messages":[{"role":"user","content":%q}]},"metadata":{"card":%q}}`,
			route, private+", please "+please, private, private), append(headers, "X-Request-Id", fmt.Sprintf("req-%d", n))...)
	}
	done := submit("print", "print", "Prefer", "wait=20")
	require.Contains(t, done, "succeeded")
	require.Contains(t, done, private, "the test's provider does not echo")
	require.Contains(t, submit("print", "refuse", "Prefer", "wait=20"), "failed")
	submit("print", "break")
	submit("chat", "print")
	submit("chat", "refuse")
	submit("panic", "print")
	submit("nowhere-"+private, "print")
	send(http.MethodPost, "/v1/jobs", `{"route":"print","input":1,"params":{"tone":"`+private+`"}}`)
	send(http.MethodPost, "/v1/jobs", `{"`+private+`":1}`)
	send(http.MethodGet, "/v1/jobs?idempotency_key="+private, "")
	send(http.MethodGet, "/"+private, "", "Authorization", "Bearer "+private)
	send(http.MethodPost, "/openai/v1/chat/completions", `{"model":"chat","messages":[{"role":"user","content":"`+private+`"}]}`)

	// A call that is cancelled while it waits, at a provider that will not have it.
	var waiting struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(send(http.MethodPost, "/v1/jobs",
		`{"route":"print","input":"`+private+`, please wait"}`, "Prefer", "wait=0")), &waiting))
	require.Eventually(t, func() bool {
		return strings.Contains(send(http.MethodGet, "/v1/jobs/"+waiting.ID, "", "Prefer", ""), `"sent_at"`)
	}, 10*time.Second, 20*time.Millisecond)
	send(http.MethodPost, "/v1/jobs/"+waiting.ID+"/cancel", `{"reason":"`+private+`"}`)
	close(released)
	for _, happened := range []string{
		"attempt ended", "outcome unknown", "provider panicked", "request answered", "late result discarded",
		"asking the provider failed",
	} {
		require.Eventually(t, func() bool { return strings.Contains(log.String(), happened) }, 20*time.Second, 20*time.Millisecond,
			"it was not logged: %s", happened)
	}

	for line := range strings.Lines(log.String()) {
		for _, secret := range []string{private, "dev-key", "Bearer", "please"} {
			require.NotContains(t, line, secret)
		}
		requireNames(t, line)
	}
}

// requireNames holds a line to the names of docs/metrics.md: one that is about an
// attempt a worker has says whose it is.
func requireNames(t *testing.T, line string) {
	t.Helper()
	var said map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &said), "a line is one JSON object: %s", line)
	for _, other := range []string{"job_id", "jobId", "id", "attempt_number", "number", "err", "requestId", "req_id", "owner_id"} {
		require.NotContains(t, said, other)
	}
	if said["attempt"] != nil {
		require.NotEmpty(t, said["job"], line)
	}
	switch said["msg"] {
	case "attempt ended", "outcome unknown", "provider panicked", "late result discarded", "attempt settled":
		for _, name := range []string{"job", "attempt", "owner", "provider"} {
			require.NotEmpty(t, said[name], "%s is missing: %s", name, line)
		}
	case "request answered":
		require.NotEmpty(t, said["request_id"], line)
	}
}
