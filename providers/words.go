package providers

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// maxMessage bounds a message, in bytes.
const maxMessage = 300

// maxRetryAfter bounds what a provider may wish for.
const maxRetryAfter = 24 * time.Hour

// Secrets are strings that must not appear in messages or evidence.
type Secrets []string

// line returns s as one printable line of bounded length without secrets.
func (secrets Secrets) line(s string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[secret]")
		}
	}
	return shorten(s)
}

func (secrets Secrets) evidence(e Evidence) Evidence {
	e.Error = secrets.line(e.Error)
	e.RequestID = secrets.line(e.RequestID)
	return e
}

// shorten makes s one line of at most maxMessage bytes.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "?")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}

// said returns what the provider said, after the status.
func (r Refusal) said(status string) string {
	said := status
	if r.Code != "" {
		said += " " + r.Code
	}
	if r.Message != "" {
		said += ": " + r.Message
	}
	return said
}

// plain puts a transport error into words of ours. The texts of net/http quote
// addresses with passwords and pieces of answers, so they are not passed on.
func plain(err error) string {
	var (
		wrapped *url.Error
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch {
	case errors.Is(err, ErrNotEntitled), errors.Is(err, errSealed), errors.Is(err, ErrOversize):
		return err.Error()
	case errors.As(err, &dns):
		return "the host name was not found (DNS)"
	case errors.As(err, &cert):
		return "TLS handshake failed: the certificate was not accepted"
	case errors.As(err, &record):
		return "TLS handshake failed: the server does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case timedOut(err):
		return "timed out"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer was cut off"
	case errors.Is(err, io.EOF):
		return "the connection was closed without an answer"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection could be made"
	case errors.As(err, &op):
		return "the connection broke"
	default:
		return class(err)
	}
}

// class names an error that has no type: net/http only has texts for these.
func class(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "context canceled"):
		return "the call was called off"
	case strings.Contains(text, "tls:"):
		return "TLS failed"
	case strings.Contains(text, "server closed idle connection"):
		return "the connection was closed without an answer"
	default:
		return "the connection broke or its answer is no HTTP"
	}
}

// retryAfter reads Retry-After-Ms (milliseconds) or Retry-After (RFC 9110
// §10.2.3: seconds or a date). 0 when there is none or it makes no sense; at
// most a day.
func retryAfter(header http.Header) time.Duration {
	if wish, ok := number(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wish
	}
	value := strings.TrimSpace(header.Get("Retry-After"))
	if wish, ok := number(value, time.Second); ok {
		return wish
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), maxRetryAfter)
}

func number(value string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || n != n || n < 0 {
		return 0, false
	}
	if n > float64(maxRetryAfter/unit) {
		return maxRetryAfter, true
	}
	return time.Duration(n * float64(unit)), true
}
