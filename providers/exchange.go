package providers

import (
	"bytes"
	"io"
	"mime"
	"net/http"
)

// Exchange takes the answer of a create before a vendor's SDK does: SDKs read
// bodies without a bound and drop what tells a refusal from a gateway's page. It is
// for one call; make one for each.
type Exchange struct {
	// ReadStream reads an event stream to its end and returns it as if the answer
	// had come in one piece. It closes the stream's body.
	ReadStream func(*http.Response, *Wire) Answer
	// Begins is what a stream of this API begins with, to know one that was sent
	// under another content type.
	Begins string

	answer   Answer
	answered bool
	streamed bool
}

// Middleware is one of the SDK's; they are all of this shape.
func (x *Exchange) Middleware(wire *Wire) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		x.answered = true
		resp, err := next(req)
		if err != nil {
			x.answer = Answer{Err: err}
			return nil, err
		}
		if resp.StatusCode == http.StatusOK && isStream(resp.Header) {
			x.streamed = true
			x.answer = x.ReadStream(resp, wire)
		} else {
			x.answer = ReadAnswer(resp, MaxResult)
			x.unlabelled(wire)
		}
		resp.Body = io.NopCloser(bytes.NewReader(nil))
		return resp, nil
	}
}

// unlabelled reads a stream that was sent under another content type.
func (x *Exchange) unlabelled(wire *Wire) {
	a := x.answer
	if a.Status != http.StatusOK || a.Err != nil || a.Oversize || !bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte(x.Begins)) {
		return
	}
	x.streamed = true
	x.answer = x.ReadStream(&http.Response{
		StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body)),
	}, wire)
}

// Answer is the answer, or why the SDK, which ended with err, sent nothing.
func (x *Exchange) Answer(err error) Answer {
	if !x.answered {
		return Answer{Err: err}
	}
	return x.answer
}

// Streamed tells whether the answer was put together from a stream.
func (x *Exchange) Streamed() bool { return x.streamed }

func isStream(header http.Header) bool {
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return media == "text/event-stream"
}
