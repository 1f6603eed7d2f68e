package providers

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Bounds of what is read of an answer, in bytes.
const (
	// MaxResult is the largest result a job can have (design §7).
	MaxResult = 8 << 20
	// MaxStream bounds a streamed answer, whose framing is many times the result.
	MaxStream = 64 << 20
	// maxRefusal bounds the body of an answer that is no success.
	maxRefusal = 256 << 10
)

// Answer is what came back for a create.
type Answer struct {
	Status int // 0: no head arrived
	Header http.Header
	Body   []byte
	// Oversize: more than the bound came; Body holds its beginning, the rest was
	// not read.
	Oversize bool
	// Framed: the answer said how long it is. Otherwise it ended with the
	// connection, and only its content can tell whether it is whole.
	Framed bool
	// Err is why no whole answer arrived, nil if one did.
	Err error
}

// Do sends req, which carries its Wire (WithWire), and reads the answer whole
// but not beyond limit bytes. It never fails: what went wrong is in the Answer.
func Do(client *http.Client, req *http.Request, limit int64) Answer {
	resp, err := client.Do(req)
	if err != nil {
		return Answer{Err: err}
	}
	return ReadAnswer(resp, limit)
}

// ReadAnswer reads resp and closes its body. A success is read up to limit
// bytes, anything else up to what an error message needs.
func ReadAnswer(resp *http.Response, limit int64) Answer {
	defer resp.Body.Close()
	a := Head(resp)
	if !a.success() {
		limit = min(limit, maxRefusal)
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(resp.Body, limit+1))
	a.Body = buf.Bytes()
	switch {
	case n > limit:
		a.Body, a.Oversize = a.Body[:limit], true
	case err != nil:
		a.Err = err
	}
	return a
}

// Head returns the answer without its body, for types that read a stream.
func Head(resp *http.Response) Answer {
	return Answer{
		Status: resp.StatusCode,
		Header: resp.Header,
		Framed: resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0,
	}
}

func (a Answer) success() bool { return a.Status >= 200 && a.Status < 300 }

// ErrOversize is returned by Bounded's reader beyond its limit.
var ErrOversize = errors.New("the answer is larger than can be taken")

// Bounded returns a reader that fails with ErrOversize after limit bytes.
func Bounded(r io.Reader, limit int64) io.Reader { return &boundedReader{r: r, left: limit} }

type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrOversize
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}
