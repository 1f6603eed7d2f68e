package replicate

import (
	"encoding/json"
	"net/http"
	"strings"

	"onejob/providers"
)

// prediction is what is read of one.
type prediction struct {
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Model   string          `json:"model"`
	Output  json.RawMessage `json:"output"`
	Error   json.RawMessage `json:"error"`
	Metrics json.RawMessage `json:"metrics"`
	Webhook string          `json:"webhook"`
	// Removed: input, output and logs were deleted, as Replicate does after an hour.
	Removed bool `json:"data_removed"`
}

// result is a job's result on an AI route (design §8).
type result struct {
	Content      json.RawMessage `json:"content"`
	FinishReason string          `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
	Model        string          `json:"model"`
	Response     json.RawMessage `json:"response"` // the prediction
}

// understand reads a whole answer to a create.
func (p *provider) understand(a providers.Answer) providers.Outcome {
	outcome := p.read(a.Body)
	if outcome.Reason == providers.ReasonLookupFailed {
		return providers.Unreadable("the answer is no prediction")
	}
	if outcome.Kind == providers.Accepted && outcome.Handle == "" {
		return providers.Untraceable()
	}
	return outcome
}

// read says what a prediction is worth; LookupFailed when it is none.
func (p *provider) read(body []byte) providers.Outcome {
	var got prediction
	if err := json.Unmarshal(body, &got); err != nil {
		return providers.LookupFailed("the answer is no prediction")
	}
	switch got.Status {
	case "starting", "processing":
		return providers.TakenOn(got.ID)
	case "succeeded":
		if got.Removed && null(got.Output) {
			return providers.ResultGone()
		}
		return success(body, got, p.config.Model)
	case "failed":
		refusal, retryable := failure(got.Error)
		return withUsage(providers.FailedThere(refusal, retryable), got.Metrics)
	case "canceled":
		return withUsage(providers.FailedThere(providers.Refusal{Code: "canceled"}, false), got.Metrics)
	case "aborted":
		// Its deadline came before its start: another attempt may be luckier.
		outcome := providers.FailedThere(providers.Refusal{Code: "aborted"}, true)
		outcome.Effect = providers.EffectNone
		return outcome
	}
	return providers.LookupFailed("the answer has none of a prediction's statuses")
}

// Report understands what Replicate, and Cog, send to a callback URL: the
// prediction.
func Report(body []byte) providers.Outcome {
	var p provider
	return providers.Lookup{Understand: func(a providers.Answer) providers.Outcome { return p.read(a.Body) }}.
		Outcome(providers.Answer{Status: http.StatusOK, Body: body})
}

func success(body []byte, got prediction, model string) providers.Outcome {
	if got.Model != "" {
		model = got.Model
	}
	usage := got.Metrics
	if null(usage) {
		usage = json.RawMessage("null")
	}
	content, err := contentOf(got.Output)
	if err != nil {
		return providers.LookupFailed("the output cannot be put into a result")
	}
	raw, err := providers.Encode(result{
		// Replicate gives no finish reason: a prediction that succeeded ran to its end.
		Content: content, FinishReason: "stop", Usage: usage, Model: model, Response: body,
	})
	if err != nil {
		return providers.LookupFailed("the output cannot be put into a result")
	}
	return withUsage(providers.Success(raw, nil), got.Metrics)
}

// contentOf joins the pieces of a text, which language models give as a list.
// Anything else, files by their URLs for one, stays as it is.
func contentOf(output json.RawMessage) (json.RawMessage, error) {
	if null(output) {
		return json.RawMessage("null"), nil
	}
	var pieces []string
	isText := json.Unmarshal(output, &pieces) == nil
	if !isText || len(pieces) == 0 {
		return output, nil
	}
	for _, piece := range pieces {
		if strings.HasPrefix(piece, "https://") || strings.HasPrefix(piece, "http://") || strings.HasPrefix(piece, "data:") {
			return output, nil
		}
	}
	return providers.Encode(strings.Join(pieces, ""))
}

// failure reads the error of a failed prediction. Those that ask for a retry
// themselves are retryable; what a safety filter stopped is content.
func failure(raw json.RawMessage) (refusal providers.Refusal, retryable bool) {
	refusal.Message = text(raw)
	said := strings.ToLower(refusal.Message)
	refusal.Content = strings.Contains(said, "nsfw") || strings.Contains(said, "flagged as sensitive")
	return refusal, strings.Contains(said, "please retry")
}

// text is a JSON string, or else the JSON itself.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func withUsage(o providers.Outcome, usage json.RawMessage) providers.Outcome {
	if !null(usage) {
		o.Usage = usage
	}
	return o
}

func null(raw json.RawMessage) bool {
	return len(raw) == 0 || strings.TrimSpace(string(raw)) == "null"
}
