package httpprovider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

func transport(t *testing.T) *providers.Transport {
	tr := providers.NewTransport(5 * time.Second)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func newCall() *providers.Call {
	return &providers.Call{
		JobID: "job_1", AttemptID: "job_1-a2", Try: 1,
		Input:       json.RawMessage(`{"page":9007199254740993,"html":"<b>"}`),
		Params:      json.RawMessage(`{"copies":2}`),
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		NotAfter:    time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.FixedZone("", 3600)),
		Wire:        providers.NewWire(nil),
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	got := make(chan *providertest.Exchange, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		got <- x
		return x.Reply(201, "{}")
	})
	c := testConfig(server.URL, transport(t))
	c.URL = server.URL + "/print/{attempt}"
	c.Options = map[string]any{"copies": 1, "duplex": true}
	p, err := New(c)
	require.NoError(t, err)
	o := p.Execute(t.Context(), newCall())
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)

	x := <-got
	require.Equal(t, "/print/job_1-a2", x.Request.URL.Path)
	require.Equal(t,
		`{"job":"job_1","attempt":"job_1-a2","input":{"page":9007199254740993,"html":"<b>"},"params":{"copies":2,"duplex":true}}`,
		string(x.Body))
	for name, value := range map[string]string{
		"Idempotency-Key":     "job_1-a2",
		"X-Onejob-Attempt":    "job_1-a2",
		"X-Onejob-Job":        "job_1",
		"X-Onejob-Not-After":  "2030-01-02T02:04:05.678Z",
		"Traceparent":         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"Content-Type":        "application/json",
		"Authorization":       "Bearer " + testToken,
		"Accept-Encoding":     "",
		"X-Unknown":           "",
		"Expect":              "",
		"X-Forwarded-For":     "",
		"Proxy-Authorization": "",
	} {
		require.Equal(t, value, x.Request.Header.Get(name), name)
	}
}

func TestParamsThatAreNoObject(t *testing.T) {
	t.Parallel()
	p, err := New(testConfig("http://127.0.0.1:1", transport(t)))
	require.NoError(t, err)
	call := newCall()
	call.Params = json.RawMessage(`[]`)
	o := p.Execute(t.Context(), call)
	require.Equal(t, providers.ReasonRequestInvalid, o.Reason)
	require.False(t, o.Retryable)
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	const lookup = "/jobs/{attempt}"
	for _, c := range []struct {
		name, lookup, path, body, location string
		kind                               providers.Kind
		handle                             string
	}{
		{"dot path", lookup, "data.0.id", `{"data":[{"id":"h1"}]}`, "", providers.Accepted, "h1"},
		{"pointer", lookup, "/data/a~1b", `{"data":{"a/b":77}}`, "", providers.Accepted, "77"},
		{"path before location", lookup, "id", `{"id":"h1"}`, "/elsewhere", providers.Accepted, "h1"},
		{"location", lookup, "", ``, "/jobs/h2", providers.Accepted, "SERVER/jobs/h2"},
		{"location where the path leads nowhere", lookup, "id", `{}`, "h3", providers.Accepted, "SERVER/h3"},
		{"by attempt id", lookup, "", `{}`, "", providers.Accepted, ""},
		{"nothing to ask by", "/jobs/{handle}", "id", `{"id":{}}`, "", providers.Unknown, ""},
		{"nowhere to ask", "", "id", `{"id":"h1"}`, "/jobs/h1", providers.Unknown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
				if c.location != "" {
					return x.Reply(202, c.body, "Location: "+c.location)
				}
				return x.Reply(202, c.body)
			})
			config := testConfig(server.URL, transport(t))
			config.HandlePath = c.path
			if c.lookup != "" {
				config.LookupURL = server.URL + c.lookup
			}
			p, err := New(config)
			require.NoError(t, err)
			var stored []string
			call := newCall()
			call.Accept = func(_ context.Context, handle string) error {
				stored = append(stored, handle)
				return errors.New("the store is away")
			}
			o := p.Execute(t.Context(), call)
			require.Equal(t, c.kind, o.Kind, o.Message)
			if c.kind == providers.Unknown {
				require.Equal(t, providers.ReasonAcceptedUntraceable, o.Reason)
				require.Empty(t, stored)
				return
			}
			want := c.handle
			if len(want) > 6 && want[:6] == "SERVER" {
				want = server.URL + want[6:]
			}
			require.Equal(t, want, o.Handle)
			if want != "" {
				require.Equal(t, []string{want}, stored, "the handle is stored once, and kept though that failed")
			}
		})
	}
}

// A number without an end may be the beginning of a longer one.
func TestNumbersNeedALength(t *testing.T) {
	t.Parallel()
	for answer, kind := range map[string]providers.Kind{
		"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n12":     providers.Unknown,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n12":     providers.Succeeded,
		"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\"12\"": providers.Succeeded,
	} {
		server := providertest.NewServer(t, func(x *providertest.Exchange) bool { x.Write(answer); return false })
		p, err := New(testConfig(server.URL, transport(t)))
		require.NoError(t, err)
		require.Equal(t, kind, p.Execute(t.Context(), newCall()).Kind)
	}
}

func TestEnvelopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, media string
		own         bool
		message     string
	}{
		{`{"error":"no paper"}`, "", true, "no paper"},
		{`{"error":{"message":"no paper","code":"paper"}}`, "", true, "no paper"},
		{`{"error":{"code":7}}`, "", true, ""},
		{`{"title":"No paper","status":500}`, "application/problem+json; charset=utf-8", true, "No paper"},
		{`{"title":"No paper","detail":"tray 2"}`, "application/problem+json", true, "tray 2"},
		{`{"title":"No paper"}`, "application/json", false, ""},
		{`{"error":""}`, "", false, ""},
		{`{"error":null}`, "", false, ""},
		{`{"error":{}}`, "", false, ""},
		{`{"error":false}`, "", false, ""},
		{`{"error":["x"]}`, "", false, ""},
		{`not json`, "application/problem+json", false, ""},
		{`"error"`, "", false, ""},
		{``, "", false, ""},
	} {
		said, own := envelope(providers.Answer{Body: []byte(c.body), Header: http.Header{"Content-Type": {c.media}}})
		require.Equal(t, c.own, own, c.body)
		require.Equal(t, c.message, said.Message, c.body)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := providers.Config{URL: "http://h/p"}
	for says, change := range map[string]func(*providers.Config){
		"url is missing":          func(c *providers.Config) { c.URL = "" },
		"url must be":             func(c *providers.Config) { c.URL = "/p" },
		"lookup_url must be":      func(c *providers.Config) { c.LookupURL = "p/{attempt}" },
		"lookup_url must contain": func(c *providers.Config) { c.LookupURL = "http://h/p" },
		"cancel_url must contain {attempt} or {handle}": func(c *providers.Config) { c.CancelURL = "http://h/p" },
		"headers: idempotency-key is set by onejob":     func(c *providers.Config) { c.Headers = map[string]string{"idempotency-key": "x"} },
		"headers: X-Onejob-Not-After is set by onejob":  func(c *providers.Config) { c.Headers = map[string]string{"X-Onejob-Not-After": "x"} },
	} {
		c := good
		change(&c)
		_, err := New(c)
		require.ErrorContains(t, err, says)
	}
}
