package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stalling answers at once, but for one request, which it makes wait.
func stalling(t *testing.T, at int64, stall time.Duration) (addr string) {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) == at {
			select {
			case <-time.After(stall):
			case <-r.Context().Done():
			}
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"id":"job_1"}`)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A server that stands still for 400 ms is late for everybody who was to come in
// them. One connection sends nothing meanwhile, so who measures from the sending sees
// one slow answer.
func TestOpenLoop_MeasuresFromWhenARequestWasToBeSent(t *testing.T) {
	t.Parallel()
	addr := stalling(t, 20, 400*time.Millisecond)
	s := schedule{rate: 100, duration: time.Second, conns: 1}
	m, err := openLoop(t.Context(), addr, s, submits, func(time.Time, []byte) {})
	require.NoError(t, err)
	require.Equal(t, 100, m.count)
	require.GreaterOrEqual(t, ms(m.latency, 90), 200.0, "20 of 100 came in the second half of the stall")
	require.GreaterOrEqual(t, ms(m.latency, 100), 400.0)
}

func TestOpenLoop_SaysNothingOfTheWarming(t *testing.T) {
	t.Parallel()
	addr := stalling(t, 1, 200*time.Millisecond)
	s := schedule{rate: 100, duration: 600 * time.Millisecond, conns: 2, warm: 40}
	var told atomic.Int64
	m, err := openLoop(t.Context(), addr, s, submits, func(intended time.Time, body []byte) {
		if idIn(body) == "job_1" && !intended.IsZero() {
			told.Add(1)
		}
	})
	require.NoError(t, err)
	require.Equal(t, 20, m.count)
	require.EqualValues(t, 20, m.latency.TotalCount())
	require.EqualValues(t, 20, told.Load())
}

func TestSchedule_IsSteady(t *testing.T) {
	t.Parallel()
	s := schedule{rate: 400, duration: 2 * time.Second}
	require.Equal(t, 800, s.callers())
	require.Equal(t, time.Duration(0), s.at(0))
	require.Equal(t, 2500*time.Microsecond, s.at(1))
	require.Equal(t, time.Second, s.at(400))
}

func TestClosedLoop_EndsByCountOrTime(t *testing.T) {
	t.Parallel()
	addr := stalling(t, 0, 0)
	m, err := closedLoop(t.Context(), addr, 4, extent{count: 25}, submits)
	require.NoError(t, err)
	require.Equal(t, 25, m.count)
	m, err = closedLoop(t.Context(), addr, 2, extent{duration: 50 * time.Millisecond}, submits)
	require.NoError(t, err)
	require.Positive(t, m.count)
	require.GreaterOrEqual(t, m.elapsed, 50*time.Millisecond)
}

func TestClosedLoop_AnotherStatusIsAnError(t *testing.T) {
	t.Parallel()
	addr := stalling(t, 0, 0)
	_, err := closedLoop(t.Context(), addr, 1, extent{count: 1}, func(buffer []byte, _, _ int) ([]byte, int) {
		return get(buffer, "/"), http.StatusOK
	})
	require.ErrorContains(t, err, "answered 202 instead of 200")
}
