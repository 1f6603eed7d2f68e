package hostile

import (
	"bytes"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

func itoa(n int) string { return strconv.Itoa(n) }

// author writes requests by the description, by the dice.
type author struct {
	rnd        *rand.Rand
	known      *known
	addr       string
	operations []*operation
	keys       []string // of API callers; the first is our own
	sessions   []session
}

// chance is true so often of a hundred.
func (a *author) chance(percent int) bool { return a.rnd.IntN(100) < percent }

// next writes a request: one of four of them good, the others wrong in one way or
// more.
func (a *author) next() *request {
	var r *request
	if a.chance(20) {
		r = a.page()
	} else {
		r = a.call(pick(a.rnd, a.operations))
	}
	times := 0
	switch {
	case a.chance(25):
	case a.chance(60):
		times = 1
	default:
		times = 2 + a.rnd.IntN(3)
	}
	for range times {
		m := pick(a.rnd, mutations)
		m.change(a, r)
		r.done = append(r.done, m.name)
	}
	if r.headSize() > 32<<10 { // with what it may be, net/http may close before all of it is read
		r.protocol, r.fresh = true, true
	}
	return r
}

func (a *author) blank(method, target string) *request {
	return &request{method: method, target: target, version: "HTTP/1.1", newline: "\r\n", headers: []header{{"Host", a.addr}}}
}

// call writes a good request of an operation.
func (a *author) call(o *operation) *request {
	path, query := o.path, url.Values{}
	r := a.blank(o.method, "")
	r.op = o
	if !o.open {
		r.set("Authorization", "Bearer "+a.key(o))
	}
	for _, p := range o.params {
		value := a.param(p)
		switch {
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(value), 1)
		case !p.Required && a.chance(65):
		case p.In == "query":
			query.Set(p.Name, value)
		case p.In == "header":
			r.set(p.Name, value)
		}
	}
	r.target = path
	if len(query) > 0 {
		r.target += "?" + query.Encode()
	}
	if o.body != nil {
		var b bytes.Buffer
		write(&b, a.value("", o.body))
		r.give(b.Bytes())
		r.set("Content-Type", "application/json")
	}
	r.waits = r.get("Prefer") != "" || o.name == "createChatCompletion" && a.chance(50)
	if o.name == "listEvents" && a.chance(30) {
		r.set("Accept", "text/event-stream")
	}
	return r
}

// key is most often our own; for what operators do, theirs.
func (a *author) key(o *operation) string {
	switch {
	case strings.Contains(o.name, "resolve") && a.chance(70):
		return operatorKey
	case a.chance(80):
		return a.keys[0]
	}
	return pick(a.rnd, a.keys)
}

// param is a value for a parameter that reaches further than the door.
func (a *author) param(p *openapi3.Parameter) string {
	switch p.Name {
	case "id":
		if a.chance(10) {
			return a.known.one(a.rnd, kindForeign)
		}
		return a.known.one(a.rnd, kindJob)
	case "n":
		return pick(a.rnd, []string{"1", "1", "1", "2", "3"})
	case "token":
		return a.known.one(a.rnd, kindToken)
	case "name":
		return pick(a.rnd, []string{"not-found", "rate-limited", "internal", "no-such"})
	case "route", "model":
		return pick(a.rnd, routes)
	case "after", "Last-Event-ID":
		return pick(a.rnd, []string{a.known.one(a.rnd, kindCursor), "1", "2", "0"})
	case "Idempotency-Key":
		return a.idempotencyKey()
	case "idempotency_key":
		return "k" + itoa(a.rnd.IntN(500))
	case "owner":
		return pick(a.rnd, []string{"dev", "other", "nobody"})
	case "If-Match", "If-None-Match":
		return a.known.one(a.rnd, kindETag)
	case "Prefer":
		return pick(a.rnd, []string{"wait=1", "wait=0", "wait", "wait=60", "wait=-1", "wait=99999999999999999999", "respond-async, wait=1", "wait=1, wait=2"})
	}
	value, _ := a.value(p.Name, p.Schema.Value).(text)
	return strings.Trim(string(value), `"`)
}

// idempotencyKey is one of a few, which are sent again and again, or a new one.
func (a *author) idempotencyKey() string {
	if a.chance(50) {
		return "k" + itoa(a.rnd.IntN(500))
	}
	return "new-" + strconv.FormatUint(a.rnd.Uint64(), 36)
}

var routes = []string{"print", "print", "print", "chat", "bind"}
