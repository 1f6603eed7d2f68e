package httpprovider

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestAbilitiesFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	for _, lookup := range []string{"", "http://h/{attempt}"} {
		for _, cancel := range []string{"", "http://h/{attempt}"} {
			p, err := New(providers.Config{URL: "http://h", LookupURL: lookup, CancelURL: cancel})
			require.NoError(t, err)
			_, looks := p.(providers.Lookuper)
			_, cancels := p.(providers.Canceler)
			require.Equal(t, lookup != "", looks)
			require.Equal(t, cancel != "", cancels)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		kind   providers.Kind
		reason string
		retry  bool
		result string
	}{
		{200, `{"status":"running"}`, providers.Accepted, "", false, ""},
		{200, `{"status":"succeeded","result":{"n":1}}`, providers.Succeeded, "", false, `{"n":1}`},
		{200, `{"status":"succeeded"}`, providers.Succeeded, "", false, `null`},
		{200, `{"status":"failed","error":"jam"}`, providers.Failed, providers.ReasonFailedAtProvider, false, ""},
		{200, `{"status":"failed","error":{"message":"jam","retryable":true}}`, providers.Failed, providers.ReasonFailedAtProvider, true, ""},
		{200, `{"status":"failed"}`, providers.Failed, providers.ReasonFailedAtProvider, false, ""},
		{200, `{"status":"lost"}`, providers.Unknown, providers.ReasonLookupFailed, false, ""},
		{200, `{}`, providers.Unknown, providers.ReasonLookupFailed, false, ""},
		{200, `<html>`, providers.Unknown, providers.ReasonLookupFailed, false, ""},
		{404, `{}`, providers.Unknown, providers.ReasonLookupAbsent, false, ""},
		{503, `{"error":"x"}`, providers.Unknown, providers.ReasonLookupFailed, false, ""},
		{302, ``, providers.Unknown, providers.ReasonLookupFailed, false, ""},
	} {
		t.Run(fmt.Sprint(c.status, c.body), func(t *testing.T) {
			t.Parallel()
			got := make(chan *providertest.Exchange, 2)
			server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
				got <- x
				return x.Reply(c.status, c.body, "Location: /other")
			})
			config := testConfig(server.URL, transport(t))
			config.LookupURL = server.URL + "/jobs/{attempt}"
			p, err := New(config)
			require.NoError(t, err)
			o := p.(providers.Lookuper).Lookup(t.Context(), providers.Ref{JobID: "job_1", AttemptID: "job_1-a2"})
			require.Equal(t, c.kind, o.Kind, o.Message)
			require.Equal(t, c.reason, o.Reason)
			require.Equal(t, c.retry, o.Retryable)
			require.Equal(t, c.result, string(o.Result))
			x := <-got
			require.Equal(t, "GET /jobs/job_1-a2", x.Request.Method+" "+x.Request.URL.Path)
			require.Equal(t, "Bearer "+testToken, x.Request.Header.Get("Authorization"))
			require.Equal(t, 1, server.Requests())
		})
	}
}

// Credentials go to the configured host only, wherever a handle points.
func TestLookupByHandle(t *testing.T) {
	t.Parallel()
	stranger := providertest.NewServer(t, func(x *providertest.Exchange) bool { return x.Reply(200, `{"status":"succeeded"}`) })
	paths := make(chan string, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		paths <- x.Request.URL.EscapedPath()
		return x.Reply(200, `{"status":"running"}`)
	})
	config := testConfig(server.URL, transport(t))
	config.LookupURL = server.URL + "/by-handle/{handle}"
	p, err := New(config)
	require.NoError(t, err)
	look := p.(providers.Lookuper)
	for handle, path := range map[string]string{
		"h/1":                      "/by-handle/h%2F1",
		server.URL + "/location/1": "/location/1",
		stranger.URL + "/x":        "/by-handle/" + "http:%2F%2F" + stranger.URL[len("http://"):] + "%2Fx",
	} {
		o := look.Lookup(t.Context(), providers.Ref{AttemptID: "job_1-a2", Handle: handle})
		require.Equal(t, providers.Accepted, o.Kind, o.Message)
		require.Equal(t, path, <-paths)
	}
	o := look.Lookup(t.Context(), providers.Ref{AttemptID: "job_1-a2"})
	require.Equal(t, providers.ReasonLookupFailed, o.Reason, "without a handle there is nothing to ask by")
	require.Zero(t, stranger.Requests())
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for status, ok := range map[int]bool{200: true, 202: true, 204: true, 404: false, 500: false, 302: false} {
		got := make(chan *providertest.Exchange, 1)
		server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
			got <- x
			if status == 204 {
				return x.Write("HTTP/1.1 204 No Content\r\n\r\n")
			}
			return x.Reply(status, testToken)
		})
		config := testConfig(server.URL, transport(t))
		config.CancelURL = server.URL + "/jobs/{attempt}/cancel"
		p, err := New(config)
		require.NoError(t, err)
		err = p.(providers.Canceler).Cancel(t.Context(), providers.Ref{JobID: "job_1", AttemptID: "job_1-a2", Handle: "h"})
		require.Equal(t, ok, err == nil, "%d: %v", status, err)
		if err != nil {
			require.NotContains(t, err.Error(), testToken)
		}
		x := <-got
		require.Equal(t, "POST /jobs/job_1-a2/cancel", x.Request.Method+" "+x.Request.URL.Path)
		require.JSONEq(t, `{"job":"job_1","attempt":"job_1-a2","handle":"h"}`, string(x.Body))
		require.Equal(t, 1, server.Creates())
	}
}
