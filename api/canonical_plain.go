package api

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// canonicalPlain is canonical for most bodies there are, in less than half the time:
// those whose numbers are what they would become. ok is false for all others, good
// and bad ones.
func canonicalPlain(body []byte) (form []byte, ok bool) {
	if !isPlain(body) {
		return nil, false
	}
	value := jsontext.Value(bytes.Clone(body))
	if err := value.Canonicalize(jsontext.CanonicalizeRawInts(true)); err != nil {
		return nil, false
	}
	return value, true
}

// isPlain tells whether body, if it is JSON at all, nests no deeper than maxDepth and
// has no numbers but plain integers.
func isPlain(body []byte) bool {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			i = endOfString(body, i)
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || isDigit(c):
			end := endOfInteger(body, i)
			if !isPlainInteger(body[i:end]) || end < len(body) && bytes.IndexByte([]byte(".eE"), body[end]) >= 0 {
				return false
			}
			i = end - 1
		}
	}
	return true
}

// isPlainInteger tells whether digits, which may have a sign, are what appendNumber
// would make of them. A zero too many in front is for the decoder to see.
func isPlainInteger(digits []byte) bool {
	magnitude := bytes.TrimPrefix(digits, []byte("-"))
	if len(magnitude) == len(digits) {
		return len(digits) <= exactDigits
	}
	return len(magnitude) <= exactDigits && !bytes.HasPrefix(magnitude, []byte("0"))
}

// endOfString is where the string that begins at i ends, or body does.
func endOfString(body []byte, i int) int {
	for i++; i < len(body) && body[i] != '"'; i++ {
		if body[i] == '\\' {
			i++
		}
	}
	return i
}

// endOfInteger is where the digits end that begin, or whose sign is, at i.
func endOfInteger(body []byte, i int) int {
	for i++; i < len(body) && isDigit(body[i]); i++ {
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
