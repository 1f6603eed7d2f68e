package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"onejob/api"
)

// description is the API's, made strict: a member it does not name is an error
// here, though clients must bear one.
var description = sync.OnceValues(func() (routers.Router, error) {
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

// described holds an answer against the description of the API. What is not
// served is refused in the same envelope.
func described(r *http.Request, response *http.Response, body []byte) error {
	router, err := description()
	if err != nil {
		return err
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		if strings.HasPrefix(string(body), `{"error":{`) {
			return nil
		}
		return fmt.Errorf("not described: %s %s: %d %s", r.Method, r.URL.Path, response.StatusCode, body)
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 response.StatusCode, Header: response.Header,
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   strings.HasPrefix(response.Header.Get("Content-Type"), "text/"),
		},
	}
	input.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(context.Background(), input); err != nil {
		return fmt.Errorf("%s %s is not as described: %w", r.Method, r.URL.Path, err)
	}
	return nil
}
