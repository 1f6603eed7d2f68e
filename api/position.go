package api

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Position is a place in a request body.
type Position struct {
	Offset int64 `json:"offset"` // bytes before it
	Line   int   `json:"line"`   // from 1
	Column int   `json:"column"` // in bytes, from 1
	// Pointer is the value it lies in (RFC 6901).
	Pointer string `json:"pointer,omitempty"`
}

// jsonError says why a body is not JSON this API takes, and where.
type jsonError struct {
	Offset  int64
	Pointer string
	Reason  string
}

func (e *jsonError) Error() string {
	return fmt.Sprintf("%s (byte %d, %q)", e.Reason, e.Offset, e.Pointer)
}

// errorAt is a jsonError at the value dec has just read, of size bytes.
func errorAt(dec *jsontext.Decoder, size int, reason string) *jsonError {
	return &jsonError{Offset: dec.InputOffset() - int64(size), Pointer: string(dec.StackPointer()), Reason: reason}
}

// syntaxError turns what the decoder says about body into a jsonError.
func syntaxError(body []byte, err error) *jsonError {
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return &jsonError{Reason: "the body begins with a byte-order mark"}
	}
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) { // only an end too soon is told otherwise
		return &jsonError{Offset: int64(len(body)), Reason: "the JSON ends too soon"}
	}
	e := &jsonError{Offset: syntactic.ByteOffset, Pointer: string(syntactic.JSONPointer)}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		e.Reason = fmt.Sprintf("the name %q occurs twice in one object", syntactic.JSONPointer.LastToken())
		return e
	}
	e.Reason = strings.TrimPrefix(fmt.Sprint(syntactic.Err), "jsontext: ")
	return e
}

// problem shows the error to the caller.
func (e *jsonError) problem(body []byte) *Problem {
	before := body[:min(max(e.Offset, 0), int64(len(body)))]
	at := &Position{
		Offset:  int64(len(before)),
		Line:    bytes.Count(before, []byte("\n")) + 1,
		Column:  len(before) - bytes.LastIndexByte(before, '\n'),
		Pointer: e.Pointer,
	}
	p := newProblem(&problemRequestInvalid, "The body is not acceptable JSON: %s, at line %d, column %d.",
		e.Reason, at.Line, at.Column)
	p.Position = at
	return p
}
