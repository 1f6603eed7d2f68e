package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/jobs"
)

// desk takes the reports for one token.
type desk struct{ late string }

func (d desk) Report(_ context.Context, token string, body []byte) (jobs.Reported, error) {
	switch {
	case token == "away":
		return jobs.Reported{}, fmt.Errorf("looking up a callback: %w", io.EOF)
	case token != "good":
		return jobs.Reported{}, api.ErrNoCallback
	case !strings.Contains(string(body), "succeeded"):
		return jobs.Reported{}, fmt.Errorf("%w: no such status", api.ErrBadReport)
	}
	return jobs.Reported{State: jobs.Succeeded, Late: d.late}, nil
}

func TestCallback(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Reporter = desk{} })
	const report = `{"status":"succeeded","result":1}`
	require.JSONEq(t, `{"state":"succeeded","late":""}`, string(b.post("", "/v1/callbacks/good", report).is(http.StatusOK).body))
	b.post("", "/v1/callbacks/other", report).problem(http.StatusNotFound, "not-found")
	b.post("", "/v1/callbacks/good", `{"status":"?"}`).problem(http.StatusBadRequest, "request-invalid")
	b.post("", "/v1/callbacks/good", report, "Content-Type", "text/plain").problem(http.StatusUnsupportedMediaType, "media-type-unsupported")
	b.post("", "/v1/callbacks/away", report).problem(http.StatusServiceUnavailable, "store-unavailable")
	b.post("", "/v1/callbacks/good", report+strings.Repeat(" ", 2<<20)).is(http.StatusOK)
	b.post("", "/v1/callbacks/good", strings.Repeat(" ", 9<<20+1)).problem(http.StatusRequestEntityTooLarge, "request-too-large")
	require.NotContains(t, b.log.String(), "good", "the token is a credential")
}

func TestCallbackThatIsLate(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Reporter = desk{late: "attempt_succeeded"} })
	answer := b.post("", "/v1/callbacks/good", `{"status":"succeeded"}`).is(http.StatusOK)
	require.JSONEq(t, `{"state":"succeeded","late":"attempt_succeeded"}`, string(answer.body))
}

func TestNoCallbacksWithoutAReporter(t *testing.T) {
	t.Parallel()
	setup(t).post("", "/v1/callbacks/good", `{}`).problem(http.StatusNotFound, "not-found")
}
