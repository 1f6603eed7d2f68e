package providertest

import (
	"encoding/json"
	"fmt"
)

// dialect is how one API says things.
type dialect struct {
	whole  func(text, finish string) string   // an answer in one piece
	events func(text, finish string) []string // or as a stream; nil where there is none
	fault  func(status int) string            // its own error
}

// dialects by the end of the path of their create.
var dialects = map[string]dialect{
	"/chat/completions": {chatWhole, chatEvents, openaiFault},
	"/responses":        {responsesWhole, nil, openaiFault},
	"/messages":         {messagesWhole, messagesEvents, anthropicFault},
	"/predictions":      {predictionWhole, nil, replicateFault},
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a form
	}
	return string(raw)
}

const chatUsage = `{"prompt_tokens":9,"completion_tokens":7,"total_tokens":16}`

func chatFinish(finish string) (reason, member string) {
	switch finish {
	case "refusal":
		return "stop", "refusal"
	case "filtered":
		return "content_filter", "content"
	}
	return finish, "content"
}

func chatWhole(text, finish string) string {
	reason, member := chatFinish(finish)
	other := ""
	if member == "refusal" {
		other = `"content":null,`
	}
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"fake",
		"choices":[{"index":0,"message":{"role":"assistant",%s%q:%s},"finish_reason":%q}],"usage":%s}`,
		other, member, quoted(text), reason, chatUsage)
}

func chatEvents(text, finish string) []string {
	reason, member := chatFinish(finish)
	chunk := func(delta, reason string) string {
		return fmt.Sprintf("data: "+`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"fake","choices":[{"index":0,"delta":%s,"finish_reason":%s}],"usage":null}`+"\n\n", delta, reason)
	}
	events := []string{chunk(`{"role":"assistant"}`, "null")}
	for _, piece := range pieces(text) {
		events = append(events, chunk(fmt.Sprintf(`{%q:%s}`, member, quoted(piece)), "null"))
	}
	return append(events, chunk("{}", quoted(reason)),
		`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"fake","choices":[],"usage":`+chatUsage+"}\n\n",
		"data: [DONE]\n\n")
}

// pieces cuts a text as tokens do.
func pieces(text string) []string {
	runes := []rune(text)
	var cut []string
	for len(runes) > 0 {
		n := min(4, len(runes))
		cut = append(cut, string(runes[:n]))
		runes = runes[n:]
	}
	return cut
}

func responsesWhole(text, finish string) string {
	status, details, part := "completed", "null", `{"type":"output_text","text":`+quoted(text)+`,"annotations":[]}`
	switch finish {
	case "length":
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	case "filtered":
		status, details = "incomplete", `{"reason":"content_filter"}`
	case "refusal":
		part = `{"type":"refusal","refusal":` + quoted(text) + `}`
	}
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1,"status":%q,"background":true,"model":"fake",
		"error":null,"incomplete_details":%s,"output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[%s]}],
		"usage":{"input_tokens":9,"output_tokens":7,"total_tokens":16}}`, status, details, part)
}

func openaiFault(status int) string {
	kind := "invalid_request_error"
	switch {
	case status == 429:
		kind = "rate_limit_error"
	case status >= 500:
		kind = "server_error"
	}
	return fmt.Sprintf(`{"error":{"message":"the fake says no","type":%q,"param":null,"code":null}}`, kind)
}

func stopReason(finish string) string {
	switch finish {
	case "stop":
		return "end_turn"
	case "length":
		return "max_tokens"
	}
	return "refusal"
}

func messagesWhole(text, finish string) string {
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"fake","content":[{"type":"text","text":%s}],
		"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":7}}`, quoted(text), stopReason(finish))
}

func messagesEvents(text, finish string) []string {
	event := func(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }
	events := []string{
		event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"fake","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}`),
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		event("ping", `{"type":"ping"}`),
	}
	for _, piece := range pieces(text) {
		events = append(events, event("content_block_delta",
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+quoted(piece)+`}}`))
	}
	return append(events,
		event("content_block_stop", `{"type":"content_block_stop","index":0}`),
		event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":7}}`, stopReason(finish))),
		event("message_stop", `{"type":"message_stop"}`))
}

func anthropicFault(status int) string {
	kind := map[int]string{
		401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
		429: "rate_limit_error", 500: "api_error", 503: "api_error", 504: "timeout_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "invalid_request_error"
	}
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"the fake says no"},"request_id":"req_1"}`, kind)
}

// predictionWhole has no finish reason to give; a filter fails the prediction.
func predictionWhole(text, finish string) string {
	if finish == "refusal" || finish == "filtered" {
		return `{"id":"p1","model":"acme/fake","status":"failed","output":null,"error":"NSFW content detected. Try a different prompt."}`
	}
	output, err := json.Marshal(pieces(text))
	if err != nil || text == "" {
		output = []byte(`""`)
	}
	return fmt.Sprintf(`{"id":"p1","model":"acme/fake","status":"succeeded","output":%s,"error":null,"metrics":{"predict_time":0.1}}`, output)
}

func replicateFault(status int) string {
	return fmt.Sprintf(`{"title":"No","detail":"the fake says no","status":%d}`, status)
}
