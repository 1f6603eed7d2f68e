package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep arrays and objects of a body may nest.
const maxDepth = 100

// canonical returns the canonical form of body, which must be exactly one JSON
// value: RFC 8785, except that integers keep their digits (see appendNumber).
// Two bodies have the same canonical form if and only if they mean the same;
// strings are compared by code points, so NFC and NFD spellings differ.
//
// It refuses what two parsers could read in two ways (RFC 7493): duplicate
// names, bad UTF-8, lone surrogates, a byte-order mark, trailing data, numbers
// out of range; and nesting deeper than maxDepth.
func canonical(body []byte) ([]byte, *jsonError) {
	if form, ok := canonicalPlain(body); ok {
		return form, nil
	}
	return canonicalAny(body)
}

// canonicalAny is canonical for any body at all.
func canonicalAny(body []byte) ([]byte, *jsonError) {
	normal, err := normalizeNumbers(body)
	if err != nil {
		return nil, err
	}
	// What is left of RFC 8785: order of names, spelling of strings, white space.
	value := jsontext.Value(normal)
	if err := value.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return nil, syntaxError(body, fmt.Errorf("canonicalize: %w", err))
	}
	return value, nil
}

// normalizeNumbers checks body and copies it with its numbers in canonical form.
func normalizeNumbers(body []byte) ([]byte, *jsonError) {
	var out bytes.Buffer
	out.Grow(len(body))
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true)) // dec has looked
	for {
		if err := copyToken(enc, dec); err != nil {
			return nil, asJSONError(body, err)
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	end := dec.InputOffset()
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &jsonError{Offset: end, Reason: "the body goes on after the JSON value"}
	}
	return out.Bytes(), nil
}

func copyToken(enc *jsontext.Encoder, dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err //nolint:wrapcheck // turned into a jsonError by the caller
	}
	if dec.StackDepth() > maxDepth {
		return errorAt(dec, 1, fmt.Sprintf("values nest deeper than %d", maxDepth))
	}
	if token.Kind() != '0' {
		return enc.WriteToken(token) //nolint:wrapcheck // cannot fail on what dec read
	}
	literal := token.String()
	number, err := appendNumber(nil, literal)
	if err != nil {
		return errorAt(dec, len(literal), err.Error())
	}
	return enc.WriteValue(number) //nolint:wrapcheck // as above
}

func asJSONError(body []byte, err error) *jsonError {
	if own, ok := errors.AsType[*jsonError](err); ok {
		return own
	}
	return syntaxError(body, err)
}
