package balancer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func accept(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }

// The same owner and key, and all calls of one job, find the same backend while
// both are up; different ones are shared out.
func TestOneIntentFindsOneBackend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		one, two := pair(t, accept)
		url := b.start(t, one.addr, two.addr)
		at := func(method, path string, headers ...string) string {
			response, _ := send(t, method, url+path, "", headers...)
			require.Equal(t, http.StatusAccepted, response.StatusCode)
			require.NotEmpty(t, response.Header.Get("X-Backend"))
			return response.Header.Get("X-Test-Backend")
		}
		byKey, byOwner, byJob := map[string]int{}, map[string]int{}, map[string]int{}
		for i := range 16 {
			key := fmt.Sprintf("click-%d", i)
			home := at(http.MethodPost, "/v1/jobs", "Idempotency-Key", key)
			byKey[home]++
			require.Equal(t, home, at(http.MethodPost, "/v1/jobs", "Idempotency-Key", key))
			require.Equal(t, home, at(http.MethodPost, "/v1/jobs", "Idempotency-Key", `"`+key+`"`), "a quoted key is the same key")
			byOwner[at(http.MethodPost, "/v1/jobs", "Idempotency-Key", "k", "Authorization", "Bearer "+key)]++

			job := "/v1/jobs/job_" + key
			home = at(http.MethodGet, job)
			byJob[home]++
			require.Equal(t, home, at(http.MethodGet, job+"/events", "Authorization", "Bearer another"))
			require.Equal(t, home, at(http.MethodPost, job+"/attempts/1/cancel"))
		}
		require.Len(t, byKey, 2, "keys are shared out")
		require.Len(t, byOwner, 2, "the same key of different owners is shared out")
		require.Len(t, byJob, 2, "jobs are shared out")
	})
}

// What the API decides by arrives as it was sent.
func TestHeadersArrive(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		one, two := pair(t, accept)
		url := b.start(t, one.addr, two.addr)
		headers := []string{
			"X-Request-Id", "from-the-caller", "Idempotency-Key", `"a key"`, "Prefer", "wait=60",
			"If-Match", `"v3.7"`, "Last-Event-Id", "1-2", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		}
		send(t, http.MethodPost, url+"/v1/jobs", "{}", headers...)
		send(t, http.MethodPost, url+"/v1/jobs", "{}")
		seen := append(one.requests(), two.requests()...)
		require.Len(t, seen, 2)
		if seen[0].Header.Get("Prefer") == "" {
			seen[0], seen[1] = seen[1], seen[0]
		}
		for i := 0; i < len(headers); i += 2 {
			require.Equal(t, []string{headers[i+1]}, seen[0].Header[headers[i]], headers[i])
		}
		require.Equal(t, strings.TrimPrefix(url, "http://"), seen[0].Host, "the queues' page compares it with Origin")
		require.GreaterOrEqual(t, len(seen[1].Header.Get("X-Request-Id")), 32, "one is made where the caller sent none")
	})
}

// Metrics of one process are not offered as those of any.
func TestMetricsStayWithTheirProcess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		one, two := pair(t, accept)
		response, _ := send(t, http.MethodGet, b.start(t, one.addr, two.addr)+"/metrics", "")
		require.Equal(t, http.StatusNotFound, response.StatusCode)
		require.Empty(t, append(one.requests(), two.requests()...))
	})
}

// What is far too large is kept out; the API's own limit lies below.
func TestAbsurdBodiesAreKeptOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		one, two := pair(t, accept)
		url := b.start(t, one.addr, two.addr)
		response, _ := send(t, http.MethodPost, url+"/v1/jobs", strings.Repeat("x", 1_100_000))
		require.Equal(t, http.StatusAccepted, response.StatusCode, "the API is to say what it thinks of that")
		response, body := send(t, http.MethodPost, url+"/v1/jobs", strings.Repeat("x", 1_300_000), "Expect", "100-continue")
		require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
		require.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))
		require.Contains(t, body, "1 MiB")
		require.Len(t, append(one.requests(), two.requests()...), 1)
	})
}
