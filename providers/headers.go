package providers

import "net/http"

// NotAfterLayout is the form of X-Onejob-Not-After: RFC 3339, UTC, milliseconds.
const NotAfterLayout = "2006-01-02T15:04:05.000Z"

// Identify sets the headers every call carries (design §5): which attempt it is,
// of which job, until when it may be acted on, and the trace it belongs to.
func Identify(header http.Header, call *Call) {
	header.Set("X-Onejob-Attempt", call.AttemptID)
	header.Set("X-Onejob-Job", call.JobID)
	if !call.NotAfter.IsZero() {
		header.Set("X-Onejob-Not-After", call.NotAfter.UTC().Format(NotAfterLayout))
	}
	if call.Traceparent != "" {
		header.Set("Traceparent", call.Traceparent)
	}
}
