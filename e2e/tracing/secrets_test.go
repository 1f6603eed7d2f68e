package tracing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoSecrets: whatever happens to a job, no span shows a credential, a key, what the
// caller sent, what the provider said, or the token of a callback.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	s := openShop(t, inOrder(http.StatusUnprocessableEntity, http.StatusOK, silent))
	s.more = fmt.Sprintf(", lookup_url: %q", s.press.URL+"/status/{attempt}?password="+secretHeader)
	s.open()
	failed := s.post("the-callers-own-key", caller, 20)
	s.post("the-callers-own-key", caller, 20) // again
	s.call(http.MethodPost, "/v1/jobs/"+failed+"/attempts", "", "", 0, `{"reason":"the-persons-reason"}`)
	s.span("attempt", with("onejob.attempt", 2))
	s.post("the-callers-other-key", "", 0)
	s.span("look-up", with("onejob.outcome", "succeeded"))
	// A token that leads nowhere is shown as little as one that does.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.api.Addr()+"/v1/callbacks/the-token", strings.NewReader("{}"))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	s.span("POST /v1/callbacks/:token")

	spans := s.spans.GetSpans()
	require.Greater(t, len(spans), 10)
	for _, span := range spans {
		said := fmt.Sprintf("%s %v %v %v %s", span.Name, span.Attributes, span.Events, span.Links, span.Status.Description)
		for _, secret := range []string{
			secretKey, secretInput, secretHeader, "confidential", "sheets", "the-callers", "the-persons", "the-token", s.press.URL,
		} {
			require.NotContains(t, said, secret)
		}
	}
}
