package tracing_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// TestDelivery: every try at a job's webhook is in the trace the job was submitted in,
// and does not say where it went.
func TestDelivery(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder(http.StatusOK))
	s.sections = "webhooks: {allow_http: true}"
	s.open()
	var came atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if came.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(receiver.Close)
	s.call(http.MethodPost, "/v1/jobs", "k", caller, 20,
		fmt.Sprintf(`{"route":"print","input":{},"webhook_url":%q}`, receiver.URL+"/hook?token=the-token"))

	submit := s.span("POST /v1/jobs")
	for try, status := range map[int]codes.Code{1: codes.Error, 2: codes.Unset} {
		delivery := s.span("delivery", with("onejob.webhook.try", try))
		below(t, submit, delivery)
		require.Equal(t, trace.SpanKindClient, delivery.SpanKind)
		require.Equal(t, status, delivery.Status.Code)
		require.NotContains(t, fmt.Sprint(delivery.Attributes, delivery.Status), "the-token")
	}
}
