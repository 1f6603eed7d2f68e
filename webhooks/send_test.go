package webhooks

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receive starts a receiver and sends it one message.
func receive(t *testing.T, answer http.HandlerFunc, change ...func(*Message)) Outcome {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	sender := NewSender(Addresses{Allow: Loopback()}, 5*time.Second)
	t.Cleanup(sender.Close)
	m := Message{ID: "job_1-h1-x", URL: server.URL + "/hook?a=b", Body: []byte(`{"type":"job.succeeded"}`), Secrets: []string{testSecret}}
	for _, c := range change {
		c(&m)
	}
	return sender.Send(testContext(t), m)
}

// What is sent can be verified with any of the secrets, and with no other.
func TestSend_IsSigned(t *testing.T) {
	t.Parallel()
	second := "whsec_" + "YW5vdGhlciBzZWNyZXQgb2YgMzIgYnl0ZXMgb3Igc28h"
	got := make(chan error, 3)
	o := receive(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got <- err
		for _, secret := range []string{testSecret, second} {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err == nil {
				err = verifier.Verify(body, r.Header)
			}
			got <- err
		}
		if r.Method != http.MethodPost || r.URL.RawQuery != "a=b" || r.Header.Get("Content-Type") != "application/json" ||
			len(strings.Split(r.Header.Get("Webhook-Signature"), " ")) != 2 {
			w.WriteHeader(http.StatusBadRequest)
		}
	}, func(m *Message) { m.Secrets = []string{testSecret, second} })
	for range cap(got) {
		require.NoError(t, <-got)
	}
	require.True(t, o.Delivered, o.Error)
	require.Equal(t, 200, o.Status)
}

// The example of the specification ("Signature scheme"), to the letter.
func TestSign_ExampleOfTheSpecification(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	err := sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), []string{testSecret})
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", h.Get("webhook-signature"))
	require.Equal(t, "1614265330", h.Get("webhook-timestamp"))
	err = sign(h, "m", time.Unix(1, 0), nil, []string{"whsec_not base64 at all"})
	require.ErrorIs(t, err, errBadSecret)
	require.NotContains(t, err.Error(), "not base64 at all", "secrets are not repeated")
}

func TestSend_Answers(t *testing.T) {
	t.Parallel()
	answer := func(status int, retryAfter string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if retryAfter != "" {
				w.Header().Set("Retry-After", retryAfter)
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "internal words")
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   Outcome
	}{
		"200":                 {answer(200, ""), Outcome{Delivered: true, Status: 200}},
		"204":                 {answer(204, ""), Outcome{Delivered: true, Status: 204}},
		"302":                 {answer(302, ""), Outcome{Status: 302, Error: "answered 302; redirects are not followed"}},
		"307":                 {answer(307, ""), Outcome{Status: 307, Error: "answered 307; redirects are not followed"}},
		"400":                 {answer(400, ""), Outcome{Status: 400, Error: "answered 400"}},
		"410":                 {answer(410, ""), Outcome{Status: 410, Gone: true, Error: "answered 410"}},
		"429":                 {answer(429, ""), Outcome{Status: 429, Slow: true, Error: "answered 429"}},
		"429, wait":           {answer(429, "120"), Outcome{Status: 429, Slow: true, RetryAfter: 2 * time.Minute, Error: "answered 429"}},
		"502":                 {answer(502, ""), Outcome{Status: 502, Slow: true, Error: "answered 502"}},
		"503, wait":           {answer(503, "7"), Outcome{Status: 503, RetryAfter: 7 * time.Second, Error: "answered 503"}},
		"503, wait a year":    {answer(503, "31536000"), Outcome{Status: 503, RetryAfter: 24 * time.Hour, Error: "answered 503"}},
		"503, wait for words": {answer(503, "soon"), Outcome{Status: 503, Error: "answered 503"}},
		"504":                 {answer(504, ""), Outcome{Status: 504, Slow: true, Error: "answered 504"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := receive(t, c.answer)
			o.Took = 0
			require.Equal(t, c.want, o)
		})
	}
}

func TestRetryAfter_AsADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	require.Equal(t, 90*time.Second, retryAfter(now.Add(90*time.Second).Format(http.TimeFormat), now))
	require.Zero(t, retryAfter(now.Add(-time.Second).Format(http.TimeFormat), now))
	require.Zero(t, retryAfter("-1", now))
}

// A redirect to a place that may not be reached is not followed, whatever its status.
func TestSend_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		o := receive(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		require.False(t, o.Delivered)
		require.Equal(t, status, o.Status)
	}
	require.Empty(t, reached)
}

// Nothing leaves for an address that is not allowed: there is not even a connection.
func TestSend_RefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	t.Cleanup(server.Close)
	sender := NewSender(Addresses{AllowHTTP: true}, time.Second)
	t.Cleanup(sender.Close)
	for _, url := range []string{
		server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), strings.Replace(server.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1),
		strings.Replace(server.URL, "127.0.0.1", "2130706433", 1), "http://169.254.169.254/latest/meta-data",
	} {
		o := sender.Send(testContext(t), Message{ID: "m", URL: url, Secrets: []string{testSecret}})
		require.False(t, o.Delivered, url)
		require.Zero(t, o.Status, url)
		require.NotEmpty(t, o.Error, url)
		require.NotContains(t, o.Error, "127.0.0.1", "what a name stands for inside is not told")
	}
	require.Empty(t, reached)
}

// A name leads where its address leads, whatever it was when the job was submitted:
// the address that is dialled is judged.
func TestSend_JudgesWhatANameStandsFor(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	t.Cleanup(server.Close)
	names := nameServer(t, [4]byte{127, 0, 0, 1})
	url := strings.Replace(server.URL, "127.0.0.1", "rebinding.example", 1)
	for _, c := range []struct {
		allowed Addresses
		want    string
	}{
		{Addresses{AllowHTTP: true}, errPrivate.Error()},
		{Addresses{AllowHTTP: true, Allow: Loopback()}, ""},
	} {
		sender := newSender(c.allowed, 5*time.Second, &net.Dialer{Resolver: names})
		t.Cleanup(sender.Close)
		o := sender.Send(testContext(t), Message{ID: "m", URL: url, Secrets: []string{testSecret}})
		require.Equal(t, c.want, o.Error)
		require.Equal(t, c.want == "", len(reached) == 1)
	}
}

// nameServer answers every question for an IPv4 address with the same one.
func nameServer(t *testing.T, address [4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	t.Cleanup(func() {
		_ = conn.Close()
		serving.Wait()
	})
	serving.Go(func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: address},
				}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A receiver that does not answer, or never ends its answer, holds nobody longer
// than the time-out.
func TestSend_TimesOut(t *testing.T) {
	t.Parallel()
	for name, began := range map[string]bool{"silent": false, "endless answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if began {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
				}
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}))
			t.Cleanup(server.Close)
			t.Cleanup(func() { close(release) })
			sender := NewSender(Addresses{Allow: Loopback()}, 200*time.Millisecond)
			t.Cleanup(sender.Close)
			o := sender.Send(testContext(t), Message{ID: "m", URL: server.URL, Secrets: []string{testSecret}})
			require.Less(t, o.Took, 10*time.Second)
			if began { // the status was there: it was received
				require.True(t, o.Delivered)
				return
			}
			require.Equal(t, "no answer in time", o.Error)
		})
	}
}

// Of an answer, however long, little is read and nothing is kept.
func TestSend_LongAnswer(t *testing.T) {
	t.Parallel()
	o := receive(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		chunk := strings.Repeat("secret ", 10000)
		for range 100 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	require.Equal(t, "answered 500", o.Error)
}

func TestSend_NoAnswer(t *testing.T) {
	t.Parallel()
	sender := NewSender(Addresses{Allow: Loopback(), AllowHTTP: true}, 5*time.Second)
	t.Cleanup(sender.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	hangUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(hangUp.Close)
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	for url, want := range map[string]string{
		closed.URL:                      "the connection was refused",
		hangUp.URL:                      "the connection broke before an answer",
		tls.URL:                         "the certificate is not valid for the host",
		"https://user@receiver.example": "the URL is refused: it must not hold a user name",
	} {
		o := sender.Send(testContext(t), Message{ID: "m", URL: url, Secrets: []string{testSecret}})
		require.Contains(t, o.Error, want, url)
		require.Zero(t, o.Status)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	require.Equal(t, "the worker was stopped", sender.Send(stopped, Message{ID: "m", URL: hangUp.URL, Secrets: []string{testSecret}}).Error)
}
