package api

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// eachMember gives the members of a JSON object that was found to be good: bytes of
// the object's own. As it is good, nothing is looked at but where each value ends.
func eachMember(object []byte) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		for i := bytes.IndexByte(object, '{') + 1; ; {
			quote := bytes.IndexByte(object[i:], '"')
			if quote < 0 {
				return // no member is left
			}
			i += quote
			end := endOfString(object, i) + 1
			name := object[i:end]
			begin := skipSpace(object, skipSpace(object, end)+1) // past the colon
			i = endOfValue(object, begin)
			if !yield(unquoted(name), jsontext.Value(object[begin:i:i])) {
				return
			}
		}
	}
}

// unquoted is what a string of good JSON says.
func unquoted(literal []byte) string {
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, literal)
	return string(s)
}

// endOfValue is where the value ends that begins at i of good JSON.
func endOfValue(body []byte, i int) int {
	depth := 0
	for ; i < len(body); i++ {
		switch body[i] {
		case '"':
			if i = endOfString(body, i); depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i // of a number or a word before it
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// skipSpace is where white space ends that may begin at i.
func skipSpace(body []byte, i int) int {
	for i < len(body) && bytes.IndexByte([]byte(" \t\r\n"), body[i]) >= 0 {
		i++
	}
	return i
}
