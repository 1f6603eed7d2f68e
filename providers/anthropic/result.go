package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"

	"onejob/providers"
)

// result is a job's result on an AI route (design §8). Its member output is not
// here: it is added where a contract asks for JSON.
type result struct {
	Content      json.RawMessage `json:"content"` // text; null where there is none, as before a tool's call
	FinishReason string          `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
	Model        string          `json:"model"`
	Response     json.RawMessage `json:"response"` // the message
}

// answer is what is read of a message.
type answer struct {
	Type       string          `json:"type"`
	Model      string          `json:"model"`
	StopReason string          `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
	Content    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
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
	if err := json.Unmarshal(a.Body, &got); err != nil || got.Type != "message" {
		return providers.Unreadable("the answer is no message")
	}
	switch got.StopReason {
	case "":
		if streamed {
			return providers.Truncated("the answer ended without a stop reason")
		}
		return providers.Unreadable("the answer has no stop reason")
	case "refusal":
		return withUsage(providers.Refused("the model refused to answer"), got.Usage)
	}
	return success(a.Body, got)
}

func success(body json.RawMessage, got answer) providers.Outcome {
	content, err := got.text()
	if err != nil {
		return providers.Unreadable("the answer cannot be put into a result")
	}
	raw, err := providers.Encode(result{
		Content: content, FinishReason: finish(got.StopReason), Usage: got.Usage, Model: got.Model, Response: body,
	})
	if err != nil {
		return providers.Unreadable("the answer cannot be put into a result")
	}
	return withUsage(providers.Success(raw, nil), got.Usage)
}

// text joins the text blocks; null when there is none.
func (a answer) text() (json.RawMessage, error) {
	var text strings.Builder
	found := false
	for _, block := range a.Content {
		if block.Type == "text" {
			text.WriteString(block.Text)
			found = true
		}
	}
	if !found {
		return json.RawMessage("null"), nil
	}
	return providers.Encode(text.String())
}

// finish puts a stop reason into the words contracts use, which are OpenAI's. One
// without a counterpart stays as it is.
func finish(stop string) string {
	switch stop {
	case "end_turn", "stop_sequence":
		return "stop"
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "tool_use":
		return "tool_calls"
	}
	return stop
}

func withUsage(o providers.Outcome, usage json.RawMessage) providers.Outcome {
	if !null(usage) {
		o.Usage = usage
	}
	return o
}
