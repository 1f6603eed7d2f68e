package hostile

import (
	"bytes"
	"fmt"
	"slices"
)

// framingMutations say something else of the body's length than is true. Whoever
// does that gets a connection of his own, or what is left of his body would be the
// next request.
var framingMutations = []mutation{
	{"chunked", func(_ *author, r *request) { chunk(r, func(n int) string { return fmt.Sprintf("%x", n) }, "") }},
	{"chunks with extensions", func(_ *author, r *request) {
		chunk(r, func(n int) string { return fmt.Sprintf("%X;a=\"b\"", n) }, "X-Trailer: 1\r\n")
	}},
	{"bad chunks", func(a *author, r *request) {
		bad := pick(a.rnd, []string{"-1", "0x5", "zz", "", "ffffffffffffffff", "fffffffffffffffff", "5 ", "+5"})
		chunk(r, func(int) string { return bad }, "")
		misframed(r)
	}},
	{"endless chunk extension", func(_ *author, r *request) {
		chunk(r, func(n int) string { return fmt.Sprintf("%x;%s", n, bytes.Repeat([]byte("e"), 20_000)) }, "")
		misframed(r)
	}},
	{"chunked, cut off", func(_ *author, r *request) {
		chunk(r, func(n int) string { return fmt.Sprintf("%x", n+7) }, "")
		misframed(r)
	}},
	{"two framings", func(_ *author, r *request) {
		length := itoa(len(r.body))
		chunk(r, func(n int) string { return fmt.Sprintf("%x", n) }, "")
		r.length = length
		misframed(r)
	}},
	{"transfer coding", func(a *author, r *request) {
		r.set("Transfer-Encoding", pick(a.rnd, []string{"gzip", "gzip, chunked", "identity", "chunked, chunked", "x", "chunked\x00", "Chunked ", "\vchunked"}))
		misframed(r)
	}},
	{"length too long", func(a *author, r *request) {
		r.length = itoa(len(r.body) + 1 + a.rnd.IntN(100))
		misframed(r)
	}},
	{"length too short", func(a *author, r *request) {
		r.length = itoa(a.rnd.IntN(len(r.body) + 1))
		misframed(r)
	}},
	{"length that is none", func(a *author, r *request) {
		r.length = pick(a.rnd, []string{"-1", "+5", "0x5", "5,5", "5 5", "9223372036854775807", "9223372036854775808", "99999999999999999999", "x", "1e3", "\x00"})
		misframed(r)
	}},
	{"two lengths", func(a *author, r *request) {
		r.add("Content-Length", pick(a.rnd, []string{"0", "1", itoa(len(r.body)), "x"}))
		misframed(r)
	}},
	{"no length", func(_ *author, r *request) {
		r.length = ""
		misframed(r)
	}},
	{"version", func(a *author, r *request) {
		r.version = pick(a.rnd, []string{"HTTP/1.0", "HTTP/1.0", "HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3", "HTTP/9.9", "HTTP/1.1.1", "http/1.1", "", "HTTP/1.1 x", "HTTP/-1.1", "\xff"})
		misframed(r)
	}},
	{"newlines", func(a *author, r *request) {
		r.newline = pick(a.rnd, []string{"\n", "\r", "\r\r\n", "\n\r", "\r\n\r\n"})
		stray(r)
		misframed(r)
	}},
	{"byte in the head", func(a *author, r *request) {
		if len(r.headers) == 0 {
			return
		}
		raw := slices.Clone(r.headers)
		i := a.rnd.IntN(len(raw))
		h := raw[i]
		at := a.rnd.IntN(len(h.name) + 1)
		raw[i] = header{h.name[:at] + string([]byte{byte(a.rnd.Uint32())}) + h.name[at:], h.value}
		r.headers = raw
		misframed(r)
	}},
	{"shut", func(_ *author, r *request) { r.shut, r.fresh = true, true }},
}

// misframed says that the connection is of no use afterwards, and that what is
// missing will never come.
func misframed(r *request) { r.protocol, r.fresh, r.shut = true, true, true }

// chunk sends the body in chunks, with sizes as they are written.
func chunk(r *request, size func(n int) string, trailer string) {
	var b bytes.Buffer
	for part := range slices.Chunk(r.body, 1+len(r.body)/3) {
		fmt.Fprintf(&b, "%s\r\n%s\r\n", size(len(part)), part)
	}
	fmt.Fprintf(&b, "0\r\n%s\r\n", trailer)
	r.set("Transfer-Encoding", "chunked")
	r.body, r.length = b.Bytes(), ""
	// Chunks over chunks, or a body that is changed afterwards, are misframed.
	r.protocol, r.fresh, r.shut = true, true, true
}
