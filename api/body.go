package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// maxBody is the largest request body, in bytes (design §7).
const maxBody = 1 << 20

// bodyTimeout is how long a client may take to send its body.
const bodyTimeout = 30 * time.Second

// readBody reads the whole JSON body of r, or says why it will not.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	if p := checkMediaType(r.Header); p != nil {
		return nil, p
	}
	return readAll(w, r, maxBody)
}

// readOptionalBody reads a body that may be left out; without one it is {}.
func readOptionalBody(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	body, p := readAll(w, r, maxBody)
	if p != nil {
		return nil, p
	}
	if len(body) == 0 {
		return []byte("{}"), nil
	}
	if p := checkMediaType(r.Header); p != nil {
		return nil, p
	}
	return body, nil
}

// readAll reads a body of at most limit bytes.
func readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *Problem) {
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close") // rather than reading it all to throw it away
		return nil, tooLarge(limit)
	}
	// Counted from now, and not as the server's ReadTimeout from the request's first
	// byte. Servers without deadlines go without. net/http lifts it when it has read
	// the body to its end; else it stays, for what net/http reads of the rest.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := readWhole(http.MaxBytesReader(w, r.Body, limit), r.ContentLength)
	if err == nil {
		return body, nil
	}
	w.Header().Set("Connection", "close")
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge(limit)
	}
	return nil, newProblem(&problemRequestInvalid, "The body did not arrive whole.").because(err)
}

// readWhole reads to the end. A length is only claimed, or not known at all: no more is
// set aside for it than most bodies need.
func readWhole(r io.Reader, length int64) ([]byte, error) {
	const most = 4 << 10
	if length <= 0 || length > most {
		body := bytes.NewBuffer(make([]byte, 0, most))
		_, err := body.ReadFrom(r)
		return body.Bytes(), err
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body) // net/http lets nobody read beyond the length
	return body, err               //nolint:wrapcheck // whoever asks says what it was
}

func tooLarge(limit int64) *Problem {
	return newProblem(&problemRequestTooLarge, "The body is larger than %d bytes.", limit)
}

// checkMediaType accepts application/json and types that end in +json, in
// UTF-8 (RFC 8259 §8.1), not compressed.
func checkMediaType(h http.Header) *Problem {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return newProblem(&problemMediaType, "Content-Encoding %q is not supported.", coding).at("Content-Encoding", "identity")
	}
	value := h.Get("Content-Type")
	if value == "application/json" { // as nearly everybody has it
		return nil
	}
	if value == "" {
		return mediaTypeProblem("The request has no Content-Type.")
	}
	media, params, err := mime.ParseMediaType(value)
	if err != nil {
		return mediaTypeProblem("Content-Type %q cannot be read.", value)
	}
	if media != "application/json" && !(strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")) {
		return mediaTypeProblem("Content-Type %q is not JSON.", media)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return mediaTypeProblem("The charset %q is not UTF-8.", charset)
	}
	return nil
}

func mediaTypeProblem(detail string, args ...any) *Problem {
	return newProblem(&problemMediaType, detail, args...).at("Content-Type", "application/json")
}
