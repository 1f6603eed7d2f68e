package openai

import (
	"bytes"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"onejob/providers"
)

// exchange takes the answer before the SDK does: the SDK reads bodies without a
// bound and drops what tells a refusal from a gateway's page.
type exchange struct {
	answer   providers.Answer
	answered bool
	streamed bool
}

func (x *exchange) middleware(wire *providers.Wire) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		x.answered = true
		resp, err := next(req)
		if err != nil {
			x.answer = providers.Answer{Err: err}
			return nil, err
		}
		if resp.StatusCode == http.StatusOK && isStream(resp.Header) {
			x.streamed = true
			x.answer = readStream(resp, wire)
		} else {
			x.answer = providers.ReadAnswer(resp, providers.MaxResult)
			x.unlabelled(wire)
		}
		resp.Body = io.NopCloser(bytes.NewReader(nil))
		return resp, nil
	}
}

// unlabelled reads a stream that was sent under another content type.
func (x *exchange) unlabelled(wire *providers.Wire) {
	a := x.answer
	if a.Status != http.StatusOK || a.Err != nil || a.Oversize || !bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("data:")) {
		return
	}
	x.streamed = true
	x.answer = readStream(&http.Response{
		StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body)),
	}, wire)
}

// result is the answer, or why the SDK sent nothing.
func (x *exchange) result(err error) providers.Answer {
	if !x.answered {
		return providers.Answer{Err: err}
	}
	return x.answer
}

func (x *exchange) understand(a providers.Answer) providers.Outcome {
	return understand(a, x.streamed)
}
