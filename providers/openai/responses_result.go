package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3/responses"

	"onejob/providers"
)

// understandResponse reads a whole response, of a create or of a look-up.
func understandResponse(a providers.Answer, create bool) providers.Outcome {
	unclear := providers.LookupFailed
	if create {
		unclear = providers.Unreadable
	}
	var got sdk.Response
	// The SDK's types take anything for an object; a response is one with a status.
	if !json.Valid(a.Body) || json.Unmarshal(a.Body, &got) != nil {
		return unclear("the answer is no response")
	}
	usage := json.RawMessage(got.JSON.Usage.Raw())
	switch got.Status {
	case sdk.ResponseStatusQueued, sdk.ResponseStatusInProgress:
		if got.ID == "" {
			return providers.Untraceable()
		}
		return providers.TakenOn(got.ID)
	case sdk.ResponseStatusCompleted:
		return ended(a.Body, got, completedReason(got))
	case sdk.ResponseStatusIncomplete:
		return ended(a.Body, got, incompleteReason(got))
	case sdk.ResponseStatusFailed:
		return withUsage(failedResponse(got), usage)
	case sdk.ResponseStatusCancelled:
		// It may have been at work, and cost something, until then.
		return withUsage(providers.FailedThere(providers.Refusal{Code: "cancelled"}, false), usage)
	}
	if said, failed := errorOf(a.Body); failed && create {
		return providers.InBand(a, said.refusal(), said.status())
	}
	return unclear("the answer has none of a response's statuses")
}

// ended is a response that came to its end with output.
func ended(body json.RawMessage, got sdk.Response, reason string) providers.Outcome {
	usage := json.RawMessage(got.JSON.Usage.Raw())
	content := json.RawMessage("null")
	for _, item := range got.Output {
		for _, part := range item.Content {
			if part.Type == "refusal" {
				return withUsage(providers.Refused("the model refused to answer"), usage)
			}
			if part.Type == "output_text" {
				content = nil
			}
		}
	}
	if reason == "content_filter" {
		return withUsage(providers.Refused("the provider's content filter stopped the answer"), usage)
	}
	var err error
	if content == nil {
		if content, err = providers.Encode(got.OutputText()); err != nil {
			return providers.Unreadable("the answer cannot be put into a result")
		}
	}
	if null(usage) {
		usage = json.RawMessage("null")
	}
	raw, err := providers.Encode(result{
		Content: content, FinishReason: reason, Usage: usage, Model: got.Model, Response: body,
	})
	if err != nil {
		return providers.Unreadable("the answer cannot be put into a result")
	}
	return withUsage(providers.Success(raw, nil), usage)
}

// completedReason is the finish reason Chat Completions would have given.
func completedReason(got sdk.Response) string {
	for _, item := range got.Output {
		if item.Type == "function_call" || item.Type == "custom_tool_call" {
			return "tool_calls"
		}
	}
	return "stop"
}

func incompleteReason(got sdk.Response) string {
	switch reason := got.IncompleteDetails.Reason; reason {
	case "max_output_tokens":
		return "length"
	case "":
		return "incomplete"
	default:
		return reason
	}
}

// failedResponse is definite: the API says that the response failed.
func failedResponse(got sdk.Response) providers.Outcome {
	refusal := providers.Refusal{Code: string(got.Error.Code), Message: got.Error.Message}
	retryable := false
	switch refusal.Code {
	case "server_error", "rate_limit_exceeded", "vector_store_timeout":
		retryable = true
	case "content_filter", "bio_policy", "misalignment_policy_violation", "image_content_policy_violation":
		refusal.Content = true
	}
	return providers.FailedThere(refusal, retryable)
}
