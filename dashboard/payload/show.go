package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Most is how many bytes of a payload are shown.
const Most = 64 << 10

// redactedMark stands for a value that is not shown. It is no JSON, so that no
// value can look like it.
const redactedMark = "⟦redacted⟧"

// Shown is a payload as a person sees it.
type Shown struct {
	Text     string
	Bytes    int  // the size of the payload
	Cut      int  // bytes of it that are not shown for want of room
	Redacted int  // values that are not shown because the configuration says so
	NotJSON  bool // damaged: the text is what is stored, if it may be shown
}

// Show writes a payload as indented JSON: numbers keep their digits, names their
// order, and characters that hide or move others are escaped as in JSON. root is
// the payload's place among Roots. Redaction comes before cutting.
func (r *Redactor) Show(root string, raw json.RawMessage) Shown {
	s := Shown{Bytes: len(raw)}
	if len(raw) == 0 {
		return s
	}
	p := printer{redactor: r, way: []step{{name: root}}, dec: jsontext.NewDecoder(bytes.NewReader(raw))}
	err := p.value()
	s.Redacted = p.redacted
	switch {
	case p.full:
		s.Cut = len(raw) - int(min(p.dec.InputOffset(), int64(len(raw)))) + p.dropped
	case err != nil || len(bytes.TrimSpace(raw[p.dec.InputOffset():])) > 0:
		return damaged(r, root, raw)
	}
	s.Text = p.out.String()
	return s
}

// Text shows a text that is no JSON, such as an error's message.
func (r *Redactor) Text(root, s string) string {
	if r.covers([]step{{name: root}}) {
		return redactedMark
	}
	return Visible(s)
}

// damaged shows what is no JSON as it is, unless it may hold what is not shown.
func damaged(r *Redactor, root string, raw json.RawMessage) Shown {
	s := Shown{Bytes: len(raw), NotJSON: true}
	if r.may(root) {
		s.Text, s.Redacted = redactedMark, 1
		return s
	}
	if len(raw) > Most {
		s.Cut = len(raw) - Most
		raw = raw[:Most]
	}
	s.Text = Visible(string(raw))
	return s
}

// printer writes one payload, value by value.
type printer struct {
	redactor *Redactor
	dec      *jsontext.Decoder
	way      []step
	out      strings.Builder
	redacted int
	dropped  int  // bytes read of a value that were not written any more
	full     bool // nothing more is written
}

// write adds text as long as there is room.
func (p *printer) write(s string) {
	if p.full {
		return
	}
	if room := Most - p.out.Len(); len(s) > room {
		for room > 0 && !utf8.RuneStart(s[room]) {
			room--
		}
		p.dropped, s, p.full = p.dropped+len(s)-room, s[:room], true
	}
	p.out.WriteString(s)
}

// text writes a JSON string, of which no more is looked at than there is room for.
func (p *printer) text(s string) {
	if len(s) <= Most {
		p.write(quote(s))
		return
	}
	head := strings.ToValidUTF8(s[:Most], "")
	p.write(quote(head))
	p.dropped += len(s) - len(head)
}

func (p *printer) line() { p.write("\n" + strings.Repeat("  ", len(p.way)-1)) }

// value writes the next value, or its mark.
func (p *printer) value() error {
	if p.full {
		return nil
	}
	if p.redactor.covers(p.way) {
		p.redacted++
		p.write(redactedMark)
		return wrap(p.dec.SkipValue())
	}
	switch p.dec.PeekKind() {
	case '{':
		return p.members('{', '}', p.member)
	case '[':
		return p.members('[', ']', p.element)
	}
	token, err := p.dec.ReadToken()
	if err != nil {
		return wrap(err)
	}
	if token.Kind() == '"' {
		p.text(token.String())
	} else {
		p.write(token.String())
	}
	return nil
}

// members writes what is between two brackets.
func (p *printer) members(from, to byte, each func(i int) error) error {
	if _, err := p.dec.ReadToken(); err != nil {
		return wrap(err)
	}
	p.write(string(from))
	p.way = append(p.way, step{})
	i := 0
	for ; !p.full && p.dec.PeekKind() != jsontext.Kind(to); i++ {
		if i > 0 {
			p.write(",")
		}
		p.line()
		if err := each(i); err != nil {
			return err
		}
	}
	p.way = p.way[:len(p.way)-1]
	if p.full {
		return nil
	}
	if i > 0 {
		p.line()
	}
	p.write(string(to))
	_, err := p.dec.ReadToken()
	return wrap(err)
}

func (p *printer) member(int) error {
	name, err := p.dec.ReadToken()
	if err != nil {
		return wrap(err)
	}
	p.way[len(p.way)-1] = step{name: name.String()}
	p.text(name.String())
	p.write(": ")
	return p.value()
}

func (p *printer) element(i int) error {
	p.way[len(p.way)-1] = step{name: strconv.Itoa(i), index: true}
	return p.value()
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("reading a payload: %w", err)
	}
	return nil
}

// quote writes a JSON string in which nothing is hidden.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r > unicode.MaxLatin1 && r > 0xffff && hidden(r):
			r1, r2 := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&b, `\u%04x\u%04x`, r1, r2)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
