package providertest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"onejob/providers"
)

// Reportable fails the test unless o is an outcome that a worker can report: a result
// is JSON, a failure and a doubt have a reason, and no wait is negative.
func Reportable(t testing.TB, o providers.Outcome) {
	t.Helper()
	if o.Kind == providers.Succeeded && !json.Valid(o.Result) {
		t.Fatalf("a result that is not JSON: %q", o.Result)
	}
	if (o.Kind == providers.Failed || o.Kind == providers.Unknown) && o.Reason == "" {
		t.Fatalf("an outcome without a reason: %+v", o)
	}
	if o.RetryAfter < 0 {
		t.Fatalf("it asks for %s", o.RetryAfter)
	}
}

// FuzzAnswers fuzzes what a type makes of answers, by their status and body. Seeds are
// good ones of the type, and statuses those they come with; broken ones are added.
func FuzzAnswers(f *testing.F, statuses []int, seeds []string, try func(testing.TB, providers.Answer)) {
	f.Helper()
	for _, body := range append(seeds, `[]`, ``, "\xff", `{"error":7}`, `null`) {
		for _, status := range statuses {
			f.Add(status, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) { try(t, providers.Answer{Status: status, Body: body}) })
}

// FuzzStreams fuzzes what a type makes of an event stream: a whole answer, which must
// be reportable, or none. Seeds are streams of the type; broken ones are added.
func FuzzStreams(f *testing.F, seeds []string, read func(*http.Response, *providers.Wire) providers.Answer, understand func(providers.Answer) providers.Outcome) {
	f.Helper()
	for _, seed := range append(seeds, "data: \n\n", ": comment\n\n", "event: error\ndata: {}\n\n", "data", "\xff\n\n", "data: {\n\ndata: }\n\n", "", "event:\ndata: null\n\n") {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a := read(&http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(body)),
		}, providers.NewWire(func() error { return nil }))
		if a.Err == nil && !a.Oversize {
			Reportable(t, understand(a))
		}
	})
}
