package hostile

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// request is what is sent, to the byte.
type request struct {
	op      *operation // whose answers are due; nil for what is not in the description
	method  string
	target  string
	version string
	headers []header
	body    []byte
	length  string // Content-Length as sent; empty: none
	newline string

	strayed  bool // may be another call, or none: the target or method is not the operation's any more
	protocol bool // may be refused by net/http, before it is a request
	shut     bool // the client says that it sends nothing any more
	fresh    bool // goes over a connection of its own
	waits    bool // may hold the line: the client hangs up
	done     []string
}

type header struct{ name, value string }

func (r *request) set(name, value string) {
	r.drop(name)
	r.add(name, value)
}

func (r *request) add(name, value string) { r.headers = append(r.headers, header{name, value}) }

func (r *request) drop(name string) {
	r.headers = slices.DeleteFunc(r.headers, func(h header) bool { return strings.EqualFold(h.name, name) })
}

func (r *request) get(name string) string {
	for _, h := range r.headers {
		if strings.EqualFold(h.name, name) {
			return h.value
		}
	}
	return ""
}

// give sets the body, and says its length.
func (r *request) give(body []byte) {
	r.body, r.length = body, strconv.Itoa(len(body))
}

func (r *request) headSize() int {
	n := len(r.target)
	for _, h := range r.headers {
		n += len(h.name) + len(h.value) + 4
	}
	return n
}

// bytes are what goes over the wire.
func (r *request) bytes() []byte {
	var b bytes.Buffer
	b.Grow(512 + len(r.body))
	fmt.Fprintf(&b, "%s %s %s%s", r.method, r.target, r.version, r.newline)
	for _, h := range r.headers {
		b.WriteString(h.name)
		b.WriteString(": ")
		b.WriteString(h.value)
		b.WriteString(r.newline)
	}
	if r.length != "" {
		fmt.Fprintf(&b, "Content-Length: %s%s", r.length, r.newline)
	}
	b.WriteString(r.newline)
	b.Write(r.body)
	return b.Bytes()
}

// String is the request as it can be read, and sent again.
func (r *request) String() string {
	raw := r.bytes()
	if len(raw) > 2000 {
		raw = append(raw[:2000:2000], "…"...)
	}
	return fmt.Sprintf("[%s] %q", strings.Join(r.done, ", "), raw)
}
