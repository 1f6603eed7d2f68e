package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"onejob/api"
)

// described is the description made strict: a member it does not name is an
// error here, though clients must bear one.
var described = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Description)
	if err != nil {
		return nil, err
	}
	no := false
	for _, schema := range doc.Components.Schemas {
		if s := schema.Value; len(s.Properties) > 0 && s.AdditionalProperties.Has == nil {
			s.AdditionalProperties.Has = &no
		}
	}
	return gorillamux.NewRouter(doc)
})

// describedAnswer fails unless the answer is as the description says.
func describedAnswer(t *testing.T, r *http.Request, response *http.Response, body []byte) {
	t.Helper()
	router, err := described()
	require.NoError(t, err)
	media := response.Header.Get("Content-Type")
	if response.StatusCode >= http.StatusBadRequest && r.URL.Path != "/readyz" {
		require.Equal(t, "application/problem+json", media, "%s", body)
	}
	if r.Method == http.MethodHead {
		return // a GET without its body
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		require.True(t, strings.HasPrefix(r.URL.Path, "/page") || // mounted by a test
			slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNoContent}, response.StatusCode),
			"not described: %s %s", r.Method, r.URL.Path)
		return
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 response.StatusCode,
		Header:                 response.Header,
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: strings.HasPrefix(media, "text/")},
	}
	input.SetBodyBytes(body)
	require.NoError(t, openapi3filter.ValidateResponse(t.Context(), input), "%s %s", r.Method, r.URL.Path)
}

func TestDescriptionIsValid(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Description)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
}

func TestEveryCallIsDescribed(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Description)
	require.NoError(t, err)
	var written []string
	for path, item := range doc.Paths.Map() {
		if strings.HasPrefix(path, "/openai/") {
			continue // a door of its own, which looks after its part
		}
		for method := range item.Operations() {
			written = append(written, method+" "+path)
		}
	}
	var served []string
	for _, route := range api.New(api.Config{Reporter: desk{}}, nil, nil, nil).Routes() {
		if route.Method != echo.RouteNotFound {
			served = append(served, route.Method+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(route.Path, "{$1}"))
		}
	}
	require.ElementsMatch(t, written, served)
}

func TestEveryProblemIsDescribed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc, err := openapi3.NewLoader().LoadFromData(api.Description)
	require.NoError(t, err)
	var written []string
	for _, name := range doc.Components.Schemas["ProblemName"].Value.Enum {
		written = append(written, name.(string))
	}
	// The server lists its table where a name is not in it.
	served := b.get("", "/problems/no-such").problem(http.StatusNotFound, "not-found").Allowed
	require.ElementsMatch(t, written, served)
	for _, name := range served {
		require.Contains(t, string(b.get("", "/problems/"+name).is(http.StatusOK).body), `"name":"`+name+`"`)
	}
}

func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	answer := setup(t).get("", "/openapi.yaml").is(http.StatusOK)
	require.Equal(t, "application/yaml", answer.header.Get("Content-Type"))
	require.True(t, slices.Equal(api.Description, answer.body))
}
