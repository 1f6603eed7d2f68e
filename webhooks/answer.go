package webhooks

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// connectionError says what went wrong with the connection itself.
func connectionError(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &op) && op.Op == "dial":
		return "the host could not be reached"
	case strings.Contains(err.Error(), "tls:"):
		return "TLS could not be agreed on"
	}
	return "the connection broke before an answer"
}

// maxRetryAfter is the longest wait a receiver can ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header in either of its forms (RFC 9110 §10.2.3), 24 h at
// most; what cannot be read asks for nothing.
func retryAfter(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
