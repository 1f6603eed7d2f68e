package app

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Every round trip is counted once, its commands each; answers that are none of
// trouble are no errors.
func TestTripMetrics(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	registry := prometheus.NewRegistry()
	rdb.AddHook(newTripMetrics(promauto.With(registry)))
	counted := func() string {
		answer := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
		return answer.Body.String()
	}
	ctx := t.Context()

	require.ErrorIs(t, rdb.Get(ctx, "k").Err(), redis.Nil)
	require.NoError(t, rdb.Set(ctx, "k", 1, 0).Err())
	_, err := rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Get(ctx, "k")
		pipe.Get(ctx, "k")
		pipe.Echo(ctx, "not told apart")
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, redis.NewScript("return 1").Run(ctx, rdb, nil).Err())
	text := counted()
	require.NotContains(t, text, "onejob_store_errors_total")
	for command, n := range map[string]int{"get": 3, "set": 1, "other": 1, "evalsha": 1, "eval": 1} {
		require.Contains(t, text, fmt.Sprintf("onejob_store_commands_total{command=%q} %d\n", command, n))
	}
	for kind, n := range map[string]int{tripCommand: 2, tripPipeline: 1, tripScript: 2} {
		require.Contains(t, text, fmt.Sprintf("onejob_store_round_trip_seconds_count{kind=%q} %d\n", kind, n))
	}

	server.SetError("OOM command not allowed")
	require.Error(t, rdb.Set(ctx, "k", 1, 0).Err())
	require.Contains(t, counted(), `onejob_store_errors_total{error="refused"} 1`)
}

func TestTripError(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	answer := func(text string) error {
		server.SetError(text)
		return rdb.Get(t.Context(), "k").Err()
	}
	for text, want := range map[string]string{
		"LOADING Redis is loading": "refused", "ERR no such command": "refused", "NOSCRIPT No matching script": "",
		"ERR Function not found": "", "ERR unknown command `fcall`, with args": "",
		"ERR unknown command `frobnicate`, with args": "refused", "NOT FOUND": "",
	} {
		require.Equal(t, want, tripError(answer(text)), text)
	}
	for want, err := range map[string]error{
		"":           nil,
		"cancelled":  fmt.Errorf("asking: %w", context.Canceled),
		"timeout":    fmt.Errorf("asking: %w", context.DeadlineExceeded),
		"connection": errors.New("connection refused"),
	} {
		require.Equal(t, want, tripError(err))
	}
	require.Equal(t, "timeout", tripError(redis.ErrPoolTimeout))
	require.Empty(t, tripError(redis.Nil))
}
