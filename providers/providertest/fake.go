package providertest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// FakeText is what a Fake's model answers with where its name asks for nothing
// else.
const FakeText = `{"summary":"The press jammed."}`

// fakeModel is what a model of a Fake does.
type fakeModel struct {
	text   string // the answer
	finish string // stop, length, refusal or filtered
	status int    // of an error in the provider's own words
	raw    Script // instead of all that
	broken string // a stream that ends wrongly: cut, unended or error
	header string
}

// fakeModels are the faults of providers, by the name of the model that has them.
var fakeModels = map[string]fakeModel{
	"ok":              {text: FakeText, finish: "stop"},
	"fenced":          {text: "```json\n" + FakeText + "\n```", finish: "stop"},
	"prose":           {text: "Sure! Here is a summary: the press jammed.", finish: "stop"},
	"extra-keys":      {text: `{"summary":"The press jammed.","mood":"sad"}`, finish: "stop"},
	"wrong-type":      {text: `{"summary":["The press","jammed."]}`, finish: "stop"},
	"list":            {text: `[{"summary":"The press jammed."}]`, finish: "stop"},
	"empty":           {text: "", finish: "stop"},
	"truncated":       {text: `{"summary":"The pre`, finish: "length"},
	"refusal":         {text: "I cannot help with that.", finish: "refusal"},
	"filtered":        {text: "I", finish: "filtered"},
	"unended":         {text: FakeText, finish: "stop", broken: "unended"},
	"cut":             {text: FakeText, finish: "stop", broken: "cut"},
	"fails-midway":    {text: FakeText, finish: "stop", broken: "error"},
	"bad-request":     {status: 400},
	"unauthorized":    {status: 401},
	"no-credit":       {status: 402},
	"forbidden":       {status: 403},
	"unknown-model":   {status: 404},
	"conflict":        {status: 409},
	"too-large":       {status: 413},
	"unprocessable":   {status: 422},
	"rate-limited":    {status: 429, header: "Retry-After: 7"},
	"rate-limited-ms": {status: 429, header: "Retry-After-Ms: 1500"},
	"broken":          {status: 500},
	"busy":            {status: 503, header: "Retry-After: 3"},
	"overloaded":      {status: 529},
	"timed-out-there": {status: 504},
	"gateway":         {raw: page(502)},
	"gateway-time":    {raw: page(504)},
	"cdn":             {raw: page(522)},
	"page":            {raw: page(200)},
	"crashed":         {raw: page(500)},
	"down":            {raw: page(503)},
	"silent":          {raw: func(x *Exchange) bool { x.Gone(); return false }},
	"reset":           {raw: func(x *Exchange) bool { x.Reset(); return false }},
	"closed":          {raw: raw("")},
	"half":            {raw: raw("HTTP/1.1 200 OK\r\n" + jsonType + "\r\nContent-Length: 1000\r\n\r\n{\"id\":")},
}

func page(status int) Script {
	return func(x *Exchange) bool {
		return x.Reply(status, "<html><body>nginx</body></html>", "Content-Type: text/html")
	}
}

// NewFake starts a server that speaks the APIs of OpenAI (/chat/completions and
// /responses), Anthropic (/messages) and Replicate (/predictions), each in its own
// shapes, and does what the request's model is named after: ok, fenced, silent,
// rate-limited and the like (fakeModels lists them). A model it does not know is
// answered 404, as the provider would. It streams where it is asked to.
func NewFake(t testing.TB) *Server {
	t.Helper()
	return NewServer(t, func(x *Exchange) bool {
		spoken, model, ask := heard(x)
		if spoken == nil {
			return x.Reply(http.StatusNotFound, "no such path", "Content-Type: text/plain")
		}
		does, known := fakeModels[model]
		if !known {
			does = fakeModels["unknown-model"]
		}
		return does.play(x, *spoken, ask)
	})
}

// heard tells which API a request is for, which model it names, and whether it
// asks for a stream.
func heard(x *Exchange) (spoken *dialect, model string, stream bool) {
	var body struct {
		Model   string `json:"model"`
		Version string `json:"version"`
		Stream  bool   `json:"stream"`
	}
	_ = json.Unmarshal(x.Body, &body) // without a model it is an unknown one
	path := x.Request.URL.Path
	for suffix, d := range dialects {
		if !strings.HasSuffix(path, suffix) {
			continue
		}
		if _, name, found := strings.Cut(strings.TrimSuffix(path, suffix), "/models/"); found {
			_, body.Model, _ = strings.Cut(name, "/")
		}
		return &d, body.Model + body.Version, body.Stream && d.events != nil
	}
	return nil, "", false
}

func (m fakeModel) play(x *Exchange, d dialect, stream bool) bool {
	switch {
	case m.raw != nil:
		return m.raw(x)
	case m.status != 0:
		headers := []string{jsonType}
		if m.header != "" {
			headers = append(headers, m.header)
		}
		return x.Reply(m.status, d.fault(m.status), headers...)
	case stream:
		return m.stream(x, d)
	case m.broken == "error":
		return x.Reply(http.StatusInternalServerError, d.fault(500), jsonType)
	}
	body := d.whole(m.text, m.finish)
	if m.broken != "" {
		x.Write("HTTP/1.1 200 OK\r\n" + jsonType + "\r\nContent-Length: 100000\r\n\r\n" + body)
		return false
	}
	return x.Reply(http.StatusOK, body, jsonType)
}

// stream plays the model as a stream that ends with its connection.
func (m fakeModel) stream(x *Exchange, d dialect) bool {
	events := d.events(m.text, m.finish)
	half := strings.Join(events[:len(events)/2], "")
	head := "HTTP/1.1 200 OK\r\n" + streamType + "\r\n"
	switch m.broken {
	case "cut":
		x.Write(head + "Transfer-Encoding: chunked\r\n\r\nfffff\r\n" + half)
	case "unended":
		x.Write(head + "Connection: close\r\n\r\n" + half)
	case "error":
		x.Write(head + "Connection: close\r\n\r\n" + half + "event: error\ndata: " + d.fault(500) + "\n\n")
	default:
		x.Write(head + "Connection: close\r\n\r\n" + strings.Join(events, ""))
	}
	return false
}
