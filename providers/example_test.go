package providers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"onejob/providers"
)

// fax is a provider type that a user brings along.
type fax struct {
	config providers.Config
	client *http.Client
}

// newFax is step 1: a Factory.
func newFax(c providers.Config) (providers.Provider, error) {
	if err := providers.CheckURL("url", c.URL); err != nil {
		return nil, err
	}
	return &fax{config: c, client: providers.Client(c.Transport)}, nil
}

// Execute is step 2: one request that carries the call's wire.
func (f *fax) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	ctx = providers.WithWire(ctx, call.Wire)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.config.URL, bytes.NewReader(call.Input))
	if err != nil {
		return providers.Invalid("the URL cannot be called")
	}
	req.Header.Set("Idempotency-Key", call.AttemptID)
	providers.Identify(req.Header, call)

	// Step 3: the judge decides, the type only explains its provider's language.
	judge := providers.Judge{Envelope: faxError, Understand: faxSent, Secrets: f.config.Secrets()}
	return judge.Outcome(ctx, call.Wire, providers.Do(f.client, req, providers.MaxResult))
}

// faxError recognises {"fault": "…"}.
func faxError(a providers.Answer) (providers.Refusal, bool) {
	var body struct{ Fault string }
	err := json.Unmarshal(a.Body, &body)
	return providers.Refusal{Message: body.Fault}, err == nil && body.Fault != ""
}

// faxSent reads a success.
func faxSent(a providers.Answer) providers.Outcome {
	if !json.Valid(a.Body) {
		return providers.Unreadable("the answer is no JSON")
	}
	return providers.Success(a.Body, nil)
}

// A provider type of one's own, registered and called. Its test should run
// providertest.Run as well.
func Example() {
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") == "job_1-a1" {
			_, _ = fmt.Fprint(w, `{"pages":1}`)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprint(w, `{"fault":"line busy"}`)
	}))
	defer machine.Close()
	transport := providers.NewTransport(0)
	defer transport.CloseIdleConnections()

	var types providers.Registry
	if err := types.Register("fax", newFax); err != nil {
		fmt.Println(err)
	}
	office, err := types.New(providers.Config{Name: "office", Type: "fax", URL: machine.URL, Transport: transport})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, attempt := range []string{"job_1-a1", "job_2-a1"} {
		outcome := office.Execute(context.Background(), &providers.Call{
			AttemptID: attempt, Try: 1, Input: json.RawMessage(`{"to":"+49"}`), Wire: providers.NewWire(nil),
		})
		fmt.Printf("%s: %s%s\n", outcome.Kind, outcome.Result, outcome.Message)
	}
	// Output:
	// succeeded: {"pages":1}
	// failed: HTTP 503: line busy
}
