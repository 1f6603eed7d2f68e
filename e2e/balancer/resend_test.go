package balancer

import (
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
		status []int
	}{
		{"connection lost after sending", breakOff, []int{http.StatusBadGateway}},
		{"no answer in time", silent, []int{http.StatusGatewayTimeout}},
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
				one, two := pair(t, f.answer)
				url := b.start(t, one.addr, two.addr, change{b.wait, b.brief})
				for i, c := range calls {
					response, body := send(t, http.MethodPost, url+c.path, `{}`, "Idempotency-Key", c.key, "X-Request-Id", "r1")
					require.Contains(t, f.status, response.StatusCode, c.name)
					require.Equal(t, i+1, len(one.requests())+len(two.requests()), "%s reached the backends more than once", c.name)
					requireProblem(t, response, body)
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
	require.JSONEq(t, body, body)
	require.Contains(t, body, `"status":`+http.StatusText(0)+statusText(response.StatusCode))
	require.Contains(t, body, "Send the same request again with the same key.")
}

// A backend that is not there costs a caller one failure at most; then its share
// goes to the other.
func TestADeadBackendIsLeftAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		alive := newBackend(t, func(http.ResponseWriter, *http.Request) {})
		url := b.start(t, refusing(t), alive.addr)
		failed, answered := 0, 0
		for i := range 40 {
			response, _ := send(t, http.MethodPost, url+"/v1/jobs", `{}`, "Idempotency-Key", keyOf(i))
			if response.StatusCode == http.StatusOK {
				answered++
			} else {
				failed++
			}
		}
		require.Equal(t, answered, len(alive.requests()))
		require.LessOrEqual(t, failed, 3, "of 40 requests in less than a second or two")
	})
}
