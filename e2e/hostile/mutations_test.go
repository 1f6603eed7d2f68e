package hostile

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"slices"
	"strings"
)

// mutation makes a request worse in one way.
type mutation struct {
	name   string
	change func(a *author, r *request)
}

var mutations = slices.Concat(bodyMutations, headerMutations, targetMutations, framingMutations)

// bodyMutations leave HTTP alone.
var bodyMutations = []mutation{
	{"spoilt value", spoilBody},
	{"spoilt value", spoilBody},
	{"spoilt value", spoilBody},
	{"spoilt value", spoilBody},
	{"flipped byte", func(a *author, r *request) {
		if b := bytes.Clone(r.body); len(b) > 0 {
			b[a.rnd.IntN(len(b))] ^= byte(1 << a.rnd.IntN(8))
			r.give(b)
		}
	}},
	{"byte put in", func(a *author, r *request) {
		at := a.rnd.IntN(len(r.body) + 1)
		r.give(slices.Concat(r.body[:at], []byte(pick(a.rnd, []string{"\x00", "\xff", "\xc3", "\xed\xa0\x80", "{", "\"", "\\", "\n", "\u2028"})), r.body[at:]))
	}},
	{"cut body", func(a *author, r *request) { r.give(r.body[:a.rnd.IntN(len(r.body)+1)]) }},
	{"no body", func(_ *author, r *request) { r.give(nil) }},
	{"body twice", func(_ *author, r *request) { r.give(slices.Concat(r.body, r.body)) }},
	{"byte-order mark", func(_ *author, r *request) { r.give(append([]byte("\xef\xbb\xbf"), r.body...)) }},
	{"noise", func(a *author, r *request) {
		noise := make([]byte, a.rnd.IntN(300))
		for i := range noise {
			noise[i] = byte(a.rnd.Uint32())
		}
		r.give(noise)
	}},
	{"a value alone", func(a *author, r *request) { r.give([]byte(nastyValue(a.rnd))) }},
	{"large body", func(a *author, r *request) {
		if !a.chance(5) { // they are slow
			return
		}
		r.give([]byte(`{"route":"print","input":"` + strings.Repeat("a", 1<<20-100+a.rnd.IntN(200)) + `"}`))
	}},
	{"UTF-16", func(_ *author, r *request) {
		var b []byte
		for _, c := range r.body {
			b = append(b, 0, c)
		}
		r.give(b)
	}},
	{"gzip", func(_ *author, r *request) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(r.body)
		_ = w.Close()
		r.give(b.Bytes())
		r.set("Content-Encoding", "gzip")
	}},
}

// spoilBody breaks the body as JSON where it is some, else as a form.
func spoilBody(a *author, r *request) {
	if r.get("Content-Type") != "application/json" || len(r.body) > 1<<16 {
		r.give([]byte(pick(a.rnd, []string{"csrf=%zz", "a=1&a=2;b", "=&=&&", "csrf=" + strings.Repeat("a", 70000), "\x00=\xff", "id=" + strings.Repeat("&id=x", 2000)})))
		return
	}
	tree, ok := treeOf(r.body)
	if !ok {
		return
	}
	var b bytes.Buffer
	write(&b, spoil(a.rnd, tree))
	r.give(b.Bytes())
}

// treeOf reads JSON into what can be spoilt, with its names in their order.
func treeOf(body []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	tree, err := readTree(dec)
	return tree, err == nil
}

func readTree(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := &object{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := readTree(dec)
			if err != nil {
				return nil, err
			}
			o.members = append(o.members, member{strings.Trim(string(encoded(name)), `"`), value})
		}
		_, err = dec.Token()
		return o, err
	case json.Delim('['):
		items := &array{}
		for dec.More() {
			item, err := readTree(dec)
			if err != nil {
				return nil, err
			}
			items.items = append(items.items, item)
		}
		_, err = dec.Token()
		return items, err
	}
	return encoded(token), nil
}
