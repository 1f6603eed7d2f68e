package openai

import (
	"encoding/json"
	"net/http"

	"onejob/providers"
)

// result is a job's result on an AI route (design §8). Its member output is not
// here: it is added where a contract asks for JSON.
type result struct {
	Content      json.RawMessage `json:"content"` // text; null where tools are called instead
	FinishReason string          `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
	Model        string          `json:"model"`
	Response     json.RawMessage `json:"response"` // the chat.completion
}

// answer is what is read of a chat.completion.
type answer struct {
	Model   string          `json:"model"`
	Usage   json.RawMessage `json:"usage"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content json.RawMessage `json:"content"`
			Refusal string          `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
}

// understand reads a whole success. streamed: it was put together from a stream.
func understand(a providers.Answer, streamed bool) providers.Outcome {
	if said, failed := errorOf(a.Body); failed {
		return providers.InBand(a, said.refusal(), said.status())
	}
	if a.Status == http.StatusAccepted {
		return providers.Untraceable()
	}
	var got answer
	if err := json.Unmarshal(a.Body, &got); err != nil {
		return providers.Unreadable("the answer is no chat completion")
	}
	if len(got.Choices) == 0 {
		return unfinished(streamed, "the answer has no choices")
	}
	for _, choice := range got.Choices {
		if choice.FinishReason == "" {
			return unfinished(streamed, "the answer ended without a finish reason")
		}
	}
	first := got.Choices[0]
	switch {
	case first.Message.Refusal != "":
		return withUsage(providers.Refused("the model refused to answer"), got.Usage)
	case first.FinishReason == "content_filter":
		return withUsage(providers.Refused("the provider's content filter stopped the answer"), got.Usage)
	}
	return success(a.Body, got)
}

func success(body json.RawMessage, got answer) providers.Outcome {
	first := got.Choices[0]
	raw, err := providers.Encode(result{
		Content:      first.Message.Content,
		FinishReason: first.FinishReason,
		Usage:        got.Usage,
		Model:        got.Model,
		Response:     body,
	})
	if err != nil {
		return providers.Unreadable("the answer cannot be put into a result")
	}
	return withUsage(providers.Success(raw, nil), got.Usage)
}

// unfinished is a stream that stopped too early, or a body that lacks its end.
func unfinished(streamed bool, why string) providers.Outcome {
	if streamed {
		return providers.Truncated(why)
	}
	return providers.Unreadable(why)
}

func withUsage(o providers.Outcome, usage json.RawMessage) providers.Outcome {
	if !null(usage) {
		o.Usage = usage
	}
	return o
}
