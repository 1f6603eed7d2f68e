package balancer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// send makes one request, on a connection of its own.
func send(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer dev-key")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := once.RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

// A request that has left is not sent again: not to the same backend, not to the
// other one, whether its answer is cut off or does not come.
func TestAPostIsNeverSentAgain(t *testing.T) {
	t.Parallel()
	failures := []struct {
		name   string
		answer http.HandlerFunc
		status int
	}{
		{"connection lost after sending", breakOff, http.StatusBadGateway},
		{"no answer in time", silent, http.StatusGatewayTimeout},
	}
	calls := []struct{ name, path, key string }{
		{"submit", "/v1/jobs", "k1"},
		{"open an attempt", "/v1/jobs/job_01/attempts", ""},
		{"cancel", "/v1/jobs/job_01/cancel", ""},
	}
	each(t, func(t *testing.T, b balancer) {
		for _, f := range failures {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				for _, c := range calls {
					one, two := pair(t, f.answer)
					url := b.start(t, one.addr, two.addr, change{b.wait, b.brief})
					response, body := send(t, http.MethodPost, url+c.path, `{}`, "Idempotency-Key", c.key, "X-Request-Id", "r1")
					require.Equal(t, f.status, response.StatusCode, c.name)
					requireProblem(t, response, body)
					require.Len(t, append(one.requests(), two.requests()...), 1, "%s reached the backends more than once", c.name)
				}
			})
		}
	})
}

// requireProblem looks at an answer of the balancer's own.
func requireProblem(t *testing.T, response *http.Response, body string) {
	t.Helper()
	require.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))
	require.Equal(t, "r1", response.Header.Get("X-Request-Id"))
	require.Equal(t, "1", response.Header.Get("Retry-After"))
	var problem struct {
		Status int
		Hint   string
	}
	require.NoError(t, json.Unmarshal([]byte(body), &problem), body)
	require.Equal(t, response.StatusCode, problem.Status)
	require.Equal(t, "Send the same request again with the same key.", problem.Hint)
}

// A backend that is not there costs a caller one failure at most; then its share
// goes to the other.
func TestADeadBackendIsLeftAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		dead, alive := pair(t, func(http.ResponseWriter, *http.Request) {})
		url := b.start(t, dead.addr, alive.addr)
		dead.close()
		failed, answered := 0, 0
		for i := range 40 {
			response, _ := send(t, http.MethodPost, url+"/v1/jobs", `{}`, "Idempotency-Key", fmt.Sprintf("k%d", i))
			if response.StatusCode == http.StatusOK {
				answered++
			} else {
				failed++
			}
		}
		require.Len(t, alive.requests(), answered)
		require.LessOrEqual(t, failed, 5, "one each time the dead backend is tried, which is not often")
	})
}

// What only reads may be asked again: HAProxy finds the backend that answers.
func TestAReadIsAskedElsewhere(t *testing.T) {
	t.Parallel()
	haproxy.needed(t)
	one, two := newBackend(t, breakOff), newBackend(t, accept)
	url := haproxy.start(t, one.addr, two.addr)
	for i := range 16 {
		response, _ := send(t, http.MethodGet, fmt.Sprintf("%s/v1/jobs/job_%d", url, i), "")
		require.Equal(t, http.StatusAccepted, response.StatusCode)
	}
	require.NotEmpty(t, one.requests(), "some came here first")
}
