package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/auth"
)

// Where others reach the process its numbers are for those who may see every
// owner's jobs.
func TestMetrics_AreForViewers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get("", "/metrics").problem(http.StatusUnauthorized, "unauthorized")
	b.get("nobody's-key", "/metrics").problem(http.StatusUnauthorized, "unauthorized")
	b.get(devKey, "/metrics").problem(http.StatusForbidden, "forbidden")
	for _, key := range []string{viewerKey, operatorKey} {
		require.Contains(t, string(b.get(key, "/metrics").is(http.StatusOK).body), "onejob_http_requests_total")
	}
	b.get("", "/healthz").is(http.StatusOK)
	b.get("", "/readyz").is(http.StatusOK)
}

func TestMetrics_OfAProcessWithoutAnAPI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config api.Config
		keys   keyring
		key    string
		status int
	}{
		"without a key":    {api.Config{}, keyring{}, "", http.StatusUnauthorized},
		"a submitter":      {api.Config{}, keyring{}, devKey, http.StatusForbidden},
		"a viewer":         {api.Config{}, keyring{}, viewerKey, http.StatusOK},
		"the store away":   {api.Config{}, keyring{auth.ErrUnavailable}, viewerKey, http.StatusServiceUnavailable},
		"open to everyone": {api.Config{OpenMetrics: true}, keyring{auth.ErrUnavailable}, "", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
			if c.key != "" {
				request.Header.Set("Authorization", "Bearer "+c.key)
			}
			answer := httptest.NewRecorder()
			api.NewProbes(c.config, c.keys).ServeHTTP(answer, request)
			require.Equal(t, c.status, answer.Code, answer.Body.String())
		})
	}
}

// Every submission is counted once, by its route and what came of it; callers make
// no series by naming routes.
func TestMetrics_Submissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	post := func(key, body string) *reply { return b.submit(key, body) }
	post("k1", `{"route":"print","input":1}`).is(http.StatusAccepted)
	post("k1", `{"route":"print","input":1}`).is(http.StatusAccepted)
	post("k1", `{"route":"print","input":2}`).is(http.StatusConflict)
	post("k2", `{"route":"nowhere-1","input":2}`).is(http.StatusUnprocessableEntity)
	post("k2", `{"route":"nowhere-2","input":2}`).is(http.StatusUnprocessableEntity)
	post("k3", `not JSON`).is(http.StatusBadRequest)
	post("k4", `{"route":"scan","input":1}`).is(http.StatusAccepted)
	b.redis.SetError("LOADING Redis is loading the dataset in memory")
	post("k5", `{"route":"scan","input":1}`).is(http.StatusServiceUnavailable)
	b.redis.SetError("")
	text := string(b.get(viewerKey, "/metrics").is(http.StatusOK).body)
	for _, want := range []string{
		`onejob_submissions_total{outcome="created",route="print"} 1`,
		`onejob_submissions_total{outcome="replayed",route="print"} 1`,
		`onejob_submissions_total{outcome="conflict",route="print"} 1`,
		`onejob_submissions_total{outcome="refused",route="unmatched"} 3`,
		`onejob_submissions_total{outcome="created",route="scan"} 1`,
		`onejob_submissions_total{outcome="unavailable",route="scan"} 1`,
		`onejob_http_requests_in_flight 1`,
	} {
		require.Contains(t, text, want+"\n")
	}
	require.NotContains(t, text, "nowhere-")
}
