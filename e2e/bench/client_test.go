package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClient_ReadsBodiesOfBothKinds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 5000)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pieces" { // flushed before its length is known: chunked
			_, _ = io.WriteString(w, "first ")
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, long[:len(long)*min(1, len(r.URL.Path)-1)])
	}))
	t.Cleanup(web.Close)
	c, err := dial(strings.TrimPrefix(web.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(c.close)
	for path, want := range map[string]string{"/whole": long, "/pieces": "first " + long, "/": ""} {
		for range 2 { // the connection goes on
			status, body, err := c.do(get(nil, path))
			require.NoError(t, err, path)
			require.Equal(t, http.StatusOK, status, path)
			require.Equal(t, want, string(body), path)
		}
	}
}

func TestTrips_AreReadFromTheMetrics(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			_, _ = io.WriteString(w, `# TYPE onejob_store_round_trip_seconds histogram
onejob_store_round_trip_seconds_bucket{kind="verb",le="0.1"} 12
onejob_store_round_trip_seconds_count{kind="verb"} 12
onejob_store_round_trip_seconds_count{kind="pipeline"} 1.5e+02
onejob_store_errors_total{error="timeout"} 3
`)
		}
	}))
	t.Cleanup(web.Close)
	s := &server{addr: strings.TrimPrefix(web.URL, "http://")}
	trips, err := s.trips(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 162, trips, 0)
}

func TestTimesIn_ATrail(t *testing.T) {
	t.Parallel()
	got, err := timesIn([]byte(`{"data":[
		{"verb":"submit","at":"2026-11-30T08:00:00.000Z"},
		{"verb":"claim","at":"2026-11-30T08:00:00.012Z"},
		{"verb":"finalize","at":"2026-11-30T08:00:00.015Z"}]}`))
	require.NoError(t, err)
	require.EqualValues(t, 12, got.claimed.Sub(got.submitted).Milliseconds())
	require.EqualValues(t, 15, got.ended.Sub(got.submitted).Milliseconds())
	_, err = timesIn([]byte(`{"data":[{"verb":"submit","at":"2026-11-30T08:00:00.000Z"}]}`))
	require.ErrorContains(t, err, "without submit, claim and finalize")
}
