package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/providers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testSecret = "secret-0123456789"
	// which names the flaw of the type under test, in the process that tests it.
	which = "PROVIDERTEST_FLAW"
)

// plain is a small provider type; each flaw breaks one rule of it.
type plain struct {
	flaw   string
	url    string
	client *http.Client
}

func (p *plain) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	outcome := p.once(ctx, call)
	if p.flaw == "calls unknown failed" && outcome.Kind == providers.Unknown {
		outcome.Kind, outcome.Retryable = providers.Failed, true
	}
	if p.flaw == "shows its secret" {
		outcome.Message += " with key " + testSecret
	}
	return outcome
}

func (p *plain) once(ctx context.Context, call *providers.Call) providers.Outcome {
	if p.flaw != "goes past the wire" {
		ctx = providers.WithWire(ctx, call.Wire)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(call.Input))
	if err != nil {
		return providers.Invalid("the URL cannot be called")
	}
	req.Header.Set("Authorization", "Bearer "+testSecret)
	req.Header.Set("Idempotency-Key", call.AttemptID)
	if p.flaw != "names no attempt" {
		providers.Identify(req.Header, call)
	}
	judge := providers.Judge{Envelope: p.envelope, Understand: p.understand, Secrets: providers.Secrets{testSecret}}
	limit := int64(providers.MaxResult)
	if p.flaw == "reads without end" {
		limit = 1 << 40
	}
	answer := providers.Do(p.client, req, limit)
	if p.flaw == "retries" && answer.Err != nil {
		req.Body = io.NopCloser(bytes.NewReader(call.Input))
		answer = providers.Do(p.client, req, limit)
	}
	return judge.Outcome(ctx, call.Wire, answer)
}

func (p *plain) envelope(a providers.Answer) (providers.Refusal, bool) {
	var body struct{ Error struct{ Message string } }
	err := json.Unmarshal(a.Body, &body)
	own := err == nil && body.Error.Message != ""
	return providers.Refusal{Message: body.Error.Message}, own || p.flaw == "believes every 5xx"
}

func (p *plain) understand(a providers.Answer) providers.Outcome {
	if p.flaw == "takes anything for a result" {
		raw, err := json.Marshal(string(a.Body))
		if err != nil {
			return providers.Unreadable("no text")
		}
		return providers.Success(raw, nil)
	}
	if !json.Valid(a.Body) {
		return providers.Unreadable("no JSON")
	}
	return providers.Success(a.Body, nil)
}

// asked adds a look-up and a cancel.
type asked struct{ *plain }

func (p asked) Lookup(ctx context.Context, _ providers.Ref) providers.Outcome {
	answer, err := p.get(ctx, http.MethodGet)
	if err != nil {
		return providers.LookupFailed("the URL cannot be called")
	}
	if p.flaw == "takes absent for proof" && answer.Status == http.StatusNotFound {
		return providers.NeverArrived()
	}
	return providers.Lookup{Secrets: providers.Secrets{testSecret}, Understand: func(a providers.Answer) providers.Outcome {
		var body struct{ Result json.RawMessage }
		if json.Unmarshal(a.Body, &body) != nil || len(body.Result) == 0 {
			return providers.LookupFailed("no result")
		}
		return providers.Success(body.Result, nil)
	}}.Outcome(answer)
}

func (p asked) Cancel(ctx context.Context, _ providers.Ref) error {
	answer, err := p.get(ctx, http.MethodDelete)
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK && p.flaw != "hides that it could not ask" {
		return errors.New(answer.Said(providers.Secrets{testSecret}))
	}
	return nil
}

func (p asked) get(ctx context.Context, method string) (providers.Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.url, http.NoBody)
	if err != nil {
		return providers.Answer{}, err
	}
	return providers.Do(p.client, req, providers.MaxResult), nil
}

func suiteOf(flaw string) Suite {
	return Suite{
		New: func(_ testing.TB, url string, transport http.RoundTripper) providers.Provider {
			client := providers.Client(transport)
			if flaw == "follows redirects" {
				client.CheckRedirect = nil
			}
			return asked{&plain{flaw: flaw, url: url, client: client}}
		},
		Input:   json.RawMessage(`{"page":1}`),
		Success: `{"printed":1}`,
		Error:   `{"error":{"message":"no paper"}}`,
		Secret:  testSecret,
		Found:   `{"result":{"printed":1}}`,
	}
}

// A type without a flaw passes. In a process of its own it has one, and must not.
func TestSuite(t *testing.T) {
	t.Parallel()
	Run(t, suiteOf(os.Getenv(which)))
}

// The suite is worth what it finds: each flaw must make the named case fail, which
// passes without it (TestSuite).
func TestFlawsAreFound(t *testing.T) {
	t.Parallel()
	if os.Getenv(which) != "" {
		t.Skip("this is such a process")
	}
	for flaw, found := range map[string]string{
		"retries":                     "^closed before the answer$",
		"calls unknown failed":        "^504$",
		"shows its secret":            "^422$",
		"goes past the wire":          "^before the wire$/^lease over$",
		"names no attempt":            "^connections$/^names the attempt$",
		"believes every 5xx":          "^500, HTML$",
		"takes anything for a result": "^200, HTML$",
		"reads without end":           "^sizes$/^without an end$",
		"follows redirects":           "^307$",
		"takes absent for proof":      "^look-up$/^404$",
		"hides that it could not ask": "^cancel$/^500$",
	} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			out, err := runOne(t, flaw, found)
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed, "the suite let it pass:\n%s", out)
			require.Contains(t, out, "--- FAIL: TestSuite/", "it failed for another reason")
		})
	}
}

// runOne runs one case of TestSuite in a process of its own.
func runOne(t *testing.T, flaw, name string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSuite$/"+name, "-test.v")
	cmd.Env = append(os.Environ(), which+"="+flaw)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
