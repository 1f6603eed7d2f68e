package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLimits_FromTheConfiguration: an owner is kept to what is written for him, others
// to what is written for everybody, and a job that ends makes room.
func TestLimits_FromTheConfiguration(t *testing.T) {
	t.Parallel()
	a := New(parse(t, `
drain: 1s
limits: {open_jobs: 2, owners: {other: {requests_per_second: 1, burst: 4, open_jobs: 100}}}
providers: {inkjet: {type: simulated, timeout: 5s, deadline: 1m}}
routes: {print: {providers: [inkjet]}}
`), WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, a.Start(ctx))
	defer func() { require.NoError(t, a.Close()) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(owner, key, input string) (int, string, http.Header) {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.Addr()+"/v1/jobs",
			strings.NewReader(`{"route":"print","input":`+input+`}`))
		require.NoError(t, err)
		for name, value := range map[string]string{
			"Authorization": "Bearer " + owner + "-key", "Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=0",
		} {
			request.Header.Set(name, value)
		}
		response, err := client.Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body), response.Header
	}
	const hangs = `{"simulate":{"inkjet":{"outcome":"hang"}}}`
	for i := range 2 {
		status, body, _ := ask("dev", fmt.Sprint("k", i), hangs)
		require.Equal(t, http.StatusAccepted, status, body)
	}
	status, body, header := ask("dev", "k2", `{}`)
	require.Equal(t, http.StatusTooManyRequests, status, body)
	require.Contains(t, body, "has 2 jobs that have not ended, and may have 2")
	require.Equal(t, "1", header.Get("Retry-After"))
	status, _, header = ask("dev", "k1", hangs)
	require.Equal(t, http.StatusAccepted, status)
	require.Equal(t, "true", header.Get("Idempotent-Replayed"))

	refused := 0
	for i := range 8 {
		status, body, _ := ask("other", fmt.Sprint("k", i), `{}`)
		if status == http.StatusTooManyRequests {
			refused++
			require.Contains(t, body, "1 requests a second, and 4 at once")
		}
	}
	require.GreaterOrEqual(t, refused, 2)
}
