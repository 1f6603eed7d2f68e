package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/client"
)

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "127.0.0.1:8080", "ftp://host", "http://", "http://u:secret@host", "http://host?x=1", "http://host#x", "http://ho st",
	} {
		_, err := client.New(address, "dev-key")
		require.ErrorContains(t, err, "client: the server's address", address)
		require.NotContains(t, err.Error(), "secret")
	}
	for _, key := range []string{"", "sec ret", "sec\nret", "sécret"} {
		_, err := client.New("http://host", key)
		require.ErrorContains(t, err, "API key")
		require.NotContains(t, err.Error(), "ret", key)
	}
}

// TestKeyIsNowhere: no way of printing a client or an error of it shows the key.
func TestKeyIsNowhere(t *testing.T) {
	t.Parallel()
	const secret = "oj_top_secret"
	c := newClient(t, "http://127.0.0.1:1/jobs/", secret, client.WithRetryFor(0))
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(format, c), secret)
		require.NotContains(t, fmt.Sprintf(format, *c), secret)
	}
	require.Equal(t, "onejob at http://127.0.0.1:1/jobs", c.String())
	_, err := c.Submit(t.Context(), client.Request{Route: "r"})
	require.NotContains(t, fmt.Sprintf("%+v", err), secret)
}

// TestRedirects: they are not followed, so that neither key nor input goes where
// nobody has sent it.
func TestRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan *http.Request, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r }))
	t.Cleanup(other.Close)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusSeeOther, http.StatusTemporaryRedirect} {
		server := httptest.NewServer(http.RedirectHandler(other.URL, status))
		c := newClient(t, server.URL, "dev-key")
		_, err := c.Submit(t.Context(), client.Request{Route: "r"})
		require.ErrorContains(t, err, "redirect to \""+other.URL)
		for _, err := range c.Events(t.Context(), "job_1", "") {
			require.ErrorContains(t, err, "redirect")
		}
		server.Close()
	}
	require.Empty(t, elsewhere)
}

// TestRetryAfter: the server is left alone for as long as it asks, in seconds or
// until a date; an answer that is longer in coming than the call has is not
// waited for.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"seconds": "7200", "a date": time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat),
	} {
		server := httptest.NewServer(askedToWait(http.StatusTooManyRequests, value))
		_, err := newClient(t, server.URL, "k").Get(t.Context(), "job_1")
		var p *client.Problem
		require.ErrorAs(t, err, &p, name)
		require.InDelta(t, 2*time.Hour, p.RetryAfter, float64(2*time.Minute), name)

		ctx, cancel := context.WithCancel(t.Context())
		c := newClient(t, server.URL, "k", client.WithRetryFor(24*time.Hour), client.WithOnRetry(func(a client.Attempted) {
			require.Greater(t, a.After, time.Hour)
			cancel()
		}))
		_, err = c.Get(ctx, "job_1")
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorAs(t, err, &p, "what the pause was for is not forgotten")
		server.Close()
	}
}

func askedToWait(status int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(status)
	}
}

// TestNotOneJob: what answers is no onejob server.
func TestNotOneJob(t *testing.T) {
	t.Parallel()
	for body, mediaType := range map[string]string{"<html>": "text/html", `{"hello":"world"}`: "application/json"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			_, _ = fmt.Fprint(w, body)
		}))
		_, err := newClient(t, server.URL, "k").Get(t.Context(), "job_1")
		require.ErrorContains(t, err, "is this the address of a onejob server?")
		server.Close()
	}
}
