package anthropic

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"onejob/providers"
)

// readStream reads a stream to its end and returns it as if the answer had come
// in one piece: its body is a message, or the error the stream carried. It closes
// the stream's body.
func readStream(resp *http.Response, wire *providers.Wire) providers.Answer {
	defer resp.Body.Close()
	a := providers.Head(resp)
	bounded := *resp
	bounded.Request = nil // else the decoder makes errors of its own of it
	bounded.Body = io.NopCloser(providers.Bounded(resp.Body, providers.MaxStream))
	events := ssestream.NewDecoder(&bounded)
	var whole growing
	for events.Next() {
		event := events.Event()
		data := bytes.TrimSpace(event.Data)
		if _, failed := errorOf(data); failed || event.Type == "error" {
			a.Body = inBand(data)
			return a
		}
		if len(data) == 0 {
			continue
		}
		if err := whole.add(data); err != nil {
			a.Body = nil // understand calls it unreadable
			return a
		}
		if whole.stopped {
			// The stream's own end: the connection's is not waited for.
			wire.Note(func(e *providers.Evidence) { e.Complete = true })
			a.Body, a.Err = whole.encode()
			return a
		}
		if whole.size > providers.MaxResult {
			a.Oversize = true // it can only grow
			return a
		}
	}
	return ended(a, events.Err())
}

// ended is a stream that came to an end without message_stop.
func ended(a providers.Answer, err error) providers.Answer {
	switch {
	case errors.Is(err, providers.ErrOversize):
		a.Oversize = true
	case err != nil:
		a.Err = err
	default:
		a.Body, a.Err = nil, io.ErrUnexpectedEOF
	}
	return a
}

// inBand returns an error of a stream in the shape of a body, also one that
// cannot be read.
func inBand(data []byte) []byte {
	if _, ok := errorOf(data); ok {
		return data
	}
	return []byte(`{"type":"error","error":{"type":"error"}}`)
}
