package httpprovider

import (
	"net/http"
	"testing"

	"onejob/providers"
	"onejob/providers/providertest"
)

// FuzzAnswer: whatever a provider answers or reports is an outcome.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"status":"succeeded","result":1}`, `{"status":"running"}`, `{"status":"failed","error":{"message":"m","retryable":true}}`, `{"error":"no"}`, `{"id":"h","data":{"x":[1]}}`,
		`[]`, `""`, ``, `{`, `{"status":7}`, "\xff", `{"result":"\ud800"}`, `1e400`,
	} {
		f.Add(200, "/elsewhere", []byte(seed))
		f.Add(202, "http://h.example/1", []byte(seed))
	}
	var kinds []*provider
	for _, c := range []providers.Config{
		{URL: "http://h.example/"},
		{URL: "http://h.example/", HandlePath: "data.x", LookupURL: "http://h.example/{handle}"},
		{URL: "http://h.example/", ResultPath: "data.x", ErrorPath: "error"},
	} {
		kinds = append(kinds, &provider{config: c})
	}
	f.Fuzz(func(t *testing.T, status int, location string, body []byte) {
		a := providers.Answer{Status: status, Header: http.Header{"Location": {location}}, Body: body}
		for _, p := range kinds {
			providertest.Reportable(t, p.understand(a))
			_, _ = p.envelope(a)
			if at, err := p.lookupAddress(providers.Ref{Handle: location, AttemptID: "job_1-a1"}); err == nil && !sameOrigin(at, p.config.LookupURL) && p.config.LookupURL != "" {
				t.Fatalf("the handle %q leads to %q", location, at)
			}
		}
		providertest.Reportable(t, Report(body))
	})
}
