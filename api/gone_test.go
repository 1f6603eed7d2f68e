package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/logtest"
)

// awayPage is a mounted page that says in words of its own that it could not ask the
// store, as the operators' pages do.
type awayPage struct{}

func (awayPage) Serve(http.ResponseWriter, *http.Request) error { return storeAwayError{} }

type storeAwayError struct{}

func (storeAwayError) Error() string       { return "The store of keys and sessions did not answer." }
func (storeAwayError) ProblemName() string { return "store-unavailable" }

// That the store could not be asked for somebody who has gone says nothing of the
// store: it is no error in the log, and no 503 in the numbers.
func TestStoreNotAskedForWhoHasGone(t *testing.T) {
	t.Parallel()
	for gone, want := range map[bool]int{true: statusClientGone, false: http.StatusServiceUnavailable} {
		var log logtest.Buffer
		s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, nil, nil, anyone{})
		s.Mount("/page", awayPage{})
		ctx, cancel := context.WithCancel(t.Context())
		if gone {
			cancel()
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/page", http.NoBody))
		cancel()
		require.Equal(t, want, w.Code)
		require.Equal(t, !gone, log.Count("level=ERROR") > 0, log.String())
	}
}

// A probe that closes its side of the connection is told what is so, and not that the
// store is away because nobody waits for it.
func TestReadyForWhoHasClosedHisSide(t *testing.T) {
	t.Parallel()
	s := New(Config{Ready: func(ctx context.Context) Readiness { return Readiness{Ready: ctx.Err() == nil} }}, nil, nil, anyone{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", http.NoBody))
	require.Equal(t, http.StatusOK, w.Code)
}
