package httpprovider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"onejob/providers"
)

// lookup asks lookup_url what became of an attempt. A handle that is a URL, from
// the Location of a 202, is asked itself when it leads to the same host, so that
// credentials go nowhere else.
func (p *provider) lookup(ctx context.Context, ref providers.Ref) providers.Outcome {
	address, err := p.lookupAddress(ref)
	if err != nil {
		return providers.LookupFailed(err.Error())
	}
	req, err := p.request(ctx, http.MethodGet, address, nil)
	if err != nil {
		return providers.LookupFailed(err.Error())
	}
	req.Header.Set("X-Onejob-Attempt", ref.AttemptID)
	req.Header.Set("X-Onejob-Job", ref.JobID)
	looked := providers.Lookup{Understand: found, Secrets: p.secrets}
	return looked.Outcome(providers.Do(p.client, req, providers.MaxResult))
}

func (p *provider) lookupAddress(ref providers.Ref) (string, error) {
	if sameOrigin(ref.Handle, p.config.LookupURL) {
		return ref.Handle, nil
	}
	return providers.Expand(p.config.LookupURL, ref)
}

func sameOrigin(handle, lookup string) bool {
	a, errA := url.Parse(handle)
	b, errB := url.Parse(lookup)
	return errA == nil && errB == nil && a.Host != "" && a.Scheme == b.Scheme && a.Host == b.Host
}

// Report understands what a provider of this type sends to a callback URL: the
// same as it answers to a look-up.
func Report(body []byte) providers.Outcome {
	return providers.Lookup{Understand: found}.Outcome(providers.Answer{Status: http.StatusOK, Body: body})
}

// found reads {status: running | succeeded | failed, result?, error?}. A failure
// is permanent unless the error says retryable: true.
func found(a providers.Answer) providers.Outcome {
	var body struct {
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return providers.LookupFailed("the answer is no JSON object")
	}
	switch body.Status {
	case "running":
		return providers.TakenOn("")
	case "succeeded":
		if len(body.Result) == 0 {
			body.Result = json.RawMessage("null")
		}
		return providers.Success(body.Result, nil)
	case "failed":
		said, _ := refusal(body.Error)
		return providers.FailedThere(said, retryable(body.Error))
	default:
		return providers.LookupFailed("its status is none of running, succeeded, failed")
	}
}

func retryable(raw json.RawMessage) bool {
	var says struct {
		Retryable bool `json:"retryable"`
	}
	return json.Unmarshal(raw, &says) == nil && says.Retryable
}

// cancel asks cancel_url to stop an attempt: POST {job, attempt, handle}. Any
// 2xx means that it was asked.
func (p *provider) cancel(ctx context.Context, ref providers.Ref) error {
	address, err := providers.Expand(p.config.CancelURL, ref)
	if err != nil {
		return fmt.Errorf("asking to cancel: %w", err)
	}
	body, err := providers.Encode(map[string]string{"job": ref.JobID, "attempt": ref.AttemptID, "handle": ref.Handle})
	if err != nil {
		return fmt.Errorf("asking to cancel: %w", err)
	}
	req, err := p.request(ctx, http.MethodPost, address, body)
	if err != nil {
		return fmt.Errorf("asking to cancel: %w", err)
	}
	req.Header.Set("X-Onejob-Attempt", ref.AttemptID)
	req.Header.Set("X-Onejob-Job", ref.JobID)
	answer := providers.Do(p.client, req, providers.MaxResult)
	if answer.Status >= 200 && answer.Status < 300 {
		return nil
	}
	return fmt.Errorf("asking to cancel: %s", answer.Said(p.secrets))
}
