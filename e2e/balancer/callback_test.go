package balancer

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A provider's report has no credentials but the token in its path: it is shared
// out by that, may be as large as a result, and the token is in no log.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b balancer) {
		one, two := pair(t, accept)
		url, p := b.run(t, one.addr, two.addr)
		const token = "SECRETTOKEN"
		for i := range 16 {
			response, _ := send(t, http.MethodPost, fmt.Sprintf("%s/v1/callbacks/%s%d", url, token, i), "{}")
			require.Equal(t, http.StatusAccepted, response.StatusCode)
		}
		require.NotEmpty(t, one.requests(), "reports are shared out")
		require.NotEmpty(t, two.requests(), "reports are shared out")
		response, _ := send(t, http.MethodPost, url+"/v1/callbacks/large", strings.Repeat("x", 9<<20))
		require.Equal(t, http.StatusAccepted, response.StatusCode)
		eventually(t, "the requests are logged", func(context.Context) bool {
			return strings.Count(p.said.String(), "POST /v1/callbacks/...") == 17
		})
		require.NotContains(t, p.said.String(), token)
	})
}
