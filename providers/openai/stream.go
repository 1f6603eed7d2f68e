package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"onejob/providers"
)

// readStream reads a stream to its end and returns it as if the answer had come
// in one piece: its body is a chat.completion, or the error the stream carried.
// It closes the stream's body.
func readStream(resp *http.Response, wire *providers.Wire) providers.Answer {
	defer resp.Body.Close()
	a := providers.Head(resp)
	bounded := *resp
	bounded.Body = io.NopCloser(providers.Bounded(resp.Body, providers.MaxStream))
	events := ssestream.NewDecoder(&bounded)
	var whole completion
	for events.Next() {
		event := events.Event()
		data := bytes.TrimSpace(event.Data)
		if string(data) == "[DONE]" {
			// The stream's own end: the connection's is not waited for.
			wire.Note(func(e *providers.Evidence) { e.Complete = true })
			return finished(a, &whole)
		}
		if raw, failed := inBand(event.Type, data); failed {
			a.Body = raw
			return a
		}
		if err := whole.add(data); err != nil {
			a.Body = nil // understand calls it unreadable
			return a
		}
		if whole.size() > providers.MaxResult {
			a.Oversize = true // it can only grow
			return a
		}
	}
	if err := events.Err(); err != nil {
		a.Oversize = errors.Is(err, providers.ErrOversize)
		if !a.Oversize {
			a.Err = err
		}
		return a
	}
	return finished(a, &whole)
}

func finished(a providers.Answer, whole *completion) providers.Answer {
	a.Body, a.Err = whole.encode()
	return a
}

// inBand recognises an error in a stream, as {"error": …} or as an event of that
// name, and returns it in the shape of a body.
func inBand(event string, data []byte) (json.RawMessage, bool) {
	if _, ok := errorOf(data); ok {
		return data, true
	}
	if event != "error" {
		return nil, false
	}
	body, err := json.Marshal(map[string]json.RawMessage{"error": data})
	if err != nil {
		body = []byte(`{"error":{"type":"error"}}`)
	}
	return body, true
}
