package providers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestByStatus(t *testing.T) {
	t.Parallel()
	type row struct {
		status int
		own    bool
		kind   Kind
		reason string
		retry  bool
		effect Effect
	}
	var rows []row
	for status := 300; status <= 599; status++ {
		for _, own := range []bool{true, false} {
			r := row{status, own, Failed, ReasonRejected, false, EffectNone}
			switch {
			case status == 307 || status == 308:
				r.reason = ReasonRedirected
			case status < 400:
				r = row{status, own, Unknown, ReasonRedirectAnswer, false, EffectUnknown}
			case status == 408, status == 499, status == 502, status == 504, status >= 520 && status <= 528, status == 530:
				r = row{status, own, Unknown, ReasonGatewayAnswer, false, EffectUnknown}
			case status == 401, status == 403:
				r.reason = ReasonUnauthorized
			case status == 429:
				r.reason, r.retry = ReasonRateLimited, true
			case status >= 500 && !own:
				r = row{status, own, Unknown, ReasonGatewayAnswer, false, EffectUnknown}
			case status == 503:
				r.reason, r.retry = ReasonBusy, true
			case status == 529:
				r.reason, r.retry = ReasonOverloaded, true
			case status >= 500:
				r.reason, r.retry, r.effect = ReasonProviderError, true, EffectUnknown
			}
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		got := byStatus(Answer{Status: r.status}, Refusal{Message: "m"}, r.own)
		require.Equal(t, r, row{r.status, r.own, got.Kind, got.Reason, got.Retryable, got.Effect})
	}
}

func TestContentRefusals(t *testing.T) {
	t.Parallel()
	o := byStatus(Answer{Status: 400}, Refusal{Code: "content_filter", Content: true}, true)
	require.Equal(t, ReasonRefused, o.Reason)
	require.Equal(t, EffectNone, o.Effect)
	require.False(t, o.Retryable)
}

func TestInBand(t *testing.T) {
	t.Parallel()
	for status, reason := range map[int]string{
		0: ReasonProviderError, 7: ReasonProviderError, 500: ReasonProviderError, 400: ReasonRejected,
		429: ReasonRateLimited, 529: ReasonOverloaded, 502: ReasonGatewayAnswer, 504: ReasonGatewayAnswer,
	} {
		o := InBand(Answer{Status: 200}, Refusal{Message: "m"}, status)
		require.Equal(t, reason, o.Reason, status)
		require.Equal(t, EffectUnknown, o.Effect, "tokens may have been paid for")
	}
}

// judged runs a broken call through a Judge.
func judged(ctx context.Context, sent bool, read int, a Answer) Outcome {
	wire := NewWire(nil)
	if sent {
		_ = wire.Leaving()
		wire.Wrote(10)
	}
	wire.Read(read)
	return Judge{}.Outcome(ctx, wire, a)
}

func TestBroken(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithTimeout(t.Context(), 0)
	t.Cleanup(cancel)
	off, cancelOff := context.WithCancel(t.Context())
	cancelOff()
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, c := range []struct {
		name   string
		ctx    context.Context
		sent   bool
		read   int
		answer Answer
		kind   Kind
		reason string
	}{
		{"never left", t.Context(), false, 0, Answer{Err: reset}, Failed, ReasonNotSent},
		{"never left, deadline", over, false, 0, Answer{Err: context.DeadlineExceeded}, Failed, ReasonNotSent},
		{"reset", t.Context(), true, 0, Answer{Err: reset}, Unknown, ReasonConnectionLost},
		{"deadline", over, true, 0, Answer{Err: context.DeadlineExceeded}, Unknown, ReasonDeadline},
		{"deadline in the answer", over, true, 9, Answer{Status: 200, Err: context.DeadlineExceeded}, Unknown, ReasonDeadline},
		{"called off", off, true, 0, Answer{Err: context.Canceled}, Unknown, ReasonStopped},
		{"time-out of the connection", t.Context(), true, 0, Answer{Err: syscall.ETIMEDOUT}, Unknown, ReasonTimeout},
		{"cut in the body", t.Context(), true, 9, Answer{Status: 200, Err: io.ErrUnexpectedEOF}, Unknown, ReasonAnswerTruncated},
		{"cut in a refusal", t.Context(), true, 9, Answer{Status: 400, Err: io.ErrUnexpectedEOF}, Unknown, ReasonAnswerTruncated},
		{"no HTTP", t.Context(), true, 9, Answer{Err: errors.New("malformed HTTP response")}, Unknown, ReasonAnswerUnreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := judged(c.ctx, c.sent, c.read, c.answer)
			require.Equal(t, c.kind, o.Kind)
			require.Equal(t, c.reason, o.Reason)
			require.Equal(t, c.kind == Failed, o.Retryable)
			require.NotEmpty(t, o.Evidence.Error)
			prefix := map[Kind]string{Failed: "not sent: ", Unknown: "outcome unknown: "}[c.kind]
			require.True(t, strings.HasPrefix(o.Message, prefix), o.Message)
		})
	}
}

func TestResultsHaveABound(t *testing.T) {
	t.Parallel()
	for size, kind := range map[int]Kind{MaxResult: Succeeded, MaxResult + 1: Failed} {
		judge := Judge{Understand: func(Answer) Outcome { return Success(make([]byte, size), nil) }}
		o := judge.Outcome(t.Context(), NewWire(nil), Answer{Status: 200})
		require.Equal(t, kind, o.Kind)
	}
}

// Nothing of the transport's own texts is passed on: they quote URLs and answers.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, err := range []error{
		&url.Error{Op: "Post", URL: "http://u:" + secret + "@host/", Err: errors.New(secret)},
		fmt.Errorf("malformed HTTP response %q", secret),
		&net.OpError{Op: "dial", Err: errors.New(secret)},
		&net.OpError{Op: "read", Err: errors.New(secret)},
		&net.DNSError{Name: secret, Err: secret},
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNREFUSED, syscall.ECONNRESET, context.Canceled, context.DeadlineExceeded,
	} {
		text := plain(err)
		require.NotEmpty(t, text)
		require.NotContains(t, text, secret)
	}
	require.Equal(t, "connection refused", plain(&url.Error{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}))
}

func TestMessagesAreOneShortLineWithoutSecrets(t *testing.T) {
	t.Parallel()
	c := Config{
		APIKey:  "sk-secret",
		Headers: map[string]string{"Authorization": "Bearer tok-secret", "X-Key": "plain-secret"},
		URL:     "http://user:pass-secret@host/?key=query-secret",
	}
	for _, secret := range []string{"sk-secret", "tok-secret", "Bearer tok-secret", "plain-secret", "pass-secret", "query-secret"} {
		line := c.Secrets().line("bad key\r\n" + secret + "\x00 " + strings.Repeat("é", 500) + "\xff")
		require.NotContains(t, line, secret)
		require.NotContains(t, line, "\n")
		require.LessOrEqual(t, len(line), maxMessage+len("…"))
		require.True(t, strings.HasPrefix(line, "bad key ["), line)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for _, c := range []struct {
			seconds, millis string
			want            time.Duration
		}{
			{"", "", 0},
			{"7", "", 7 * time.Second},
			{" 7 ", "", 7 * time.Second},
			{"0.5", "", 500 * time.Millisecond},
			{"7", "250", 250 * time.Millisecond},
			{"7", "soon", 7 * time.Second},
			{"-7", "", 0},
			{"NaN", "", 0},
			{"soon", "", 0},
			{"1e300", "", 24 * time.Hour},
			{"99999999999999999999", "", 24 * time.Hour},
			{in(time.Minute), "", time.Minute},
			{in(-time.Minute), "", 0},
			{in(9000 * time.Hour), "", 24 * time.Hour},
		} {
			header := http.Header{}
			header.Set("Retry-After", c.seconds)
			header.Set("Retry-After-Ms", c.millis)
			require.Equal(t, c.want, retryAfter(header), "%q %q", c.seconds, c.millis)
		}
	})
}

func TestLookupTeachesOnlyWhatWasAnswered(t *testing.T) {
	t.Parallel()
	look := Lookup{Understand: func(Answer) Outcome { return Success([]byte("1"), nil) }}
	for _, c := range []struct {
		answer Answer
		kind   Kind
		reason string
	}{
		{Answer{Status: 200}, Succeeded, ""},
		{Answer{Status: 404}, Unknown, ReasonLookupAbsent},
		{Answer{Status: 410}, Unknown, ReasonLookupFailed},
		{Answer{Status: 400}, Unknown, ReasonLookupFailed},
		{Answer{Status: 401}, Unknown, ReasonLookupFailed},
		{Answer{Status: 500}, Unknown, ReasonLookupFailed},
		{Answer{Status: 202}, Unknown, ReasonLookupFailed},
		{Answer{Err: syscall.ECONNREFUSED}, Unknown, ReasonLookupFailed},
		{Answer{Status: 200, Err: io.ErrUnexpectedEOF}, Unknown, ReasonLookupFailed},
		{Answer{Status: 404, Err: io.ErrUnexpectedEOF}, Unknown, ReasonLookupFailed},
		{Answer{Status: 200, Oversize: true}, Failed, ReasonResultTooLarge},
	} {
		o := look.Outcome(c.answer)
		require.Equal(t, c.kind, o.Kind)
		require.Equal(t, c.reason, o.Reason)
	}
}

// Who says "not sent" has shut the door first: nothing can leave afterwards.
func TestNotSentIsFinal(t *testing.T) {
	t.Parallel()
	wire := NewWire(nil)
	outcome := Judge{}.Outcome(t.Context(), wire, Answer{Err: context.DeadlineExceeded})
	require.Equal(t, ReasonNotSent, outcome.Reason)
	require.ErrorIs(t, wire.Leaving(), errSealed)
}
