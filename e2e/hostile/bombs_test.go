package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is too large is refused before it is held: heads by net/http with 431, bodies
// by the API with 413, what would grow when it is unpacked with 415.
func TestBombs(t *testing.T) {
	t.Parallel()
	s := startServer(t, keeping)
	s.works("before")
	base := s.holds()
	submit := func(length string, body []byte, more ...header) *request {
		r := &request{method: "POST", target: "/v1/jobs", version: "HTTP/1.1", newline: "\r\n", length: length, body: body, fresh: true, headers: append([]header{
			{"Host", s.addr}, {"Authorization", "Bearer " + ownKey}, {"Idempotency-Key", "bomb"}, {"Content-Type", "application/json"},
		}, more...)}
		return r
	}
	chunked := header{"Transfer-Encoding", "chunked"}
	head := func(more ...header) *request {
		return &request{method: "GET", target: "/v1/jobs", version: "HTTP/1.1", newline: "\r\n", fresh: true, headers: append([]header{{"Host", s.addr}}, more...)}
	}
	var many []header
	for i := range 10_000 {
		many = append(many, header{"X-H" + itoa(i), "value"})
	}
	long := head()
	long.target = "/v1/jobs?x=" + strings.Repeat("a", 1<<20)
	preface := head()
	preface.method, preface.target, preface.version, preface.body = "PRI", "*", "HTTP/2.0", []byte("SM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	preface.headers = nil
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(bytes.Repeat([]byte(" "), 64<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	report := submit("1073741824", nil)
	report.target = "/v1/callbacks/x"

	for name, c := range map[string]struct {
		request *request
		want    []int
	}{
		"10,000 headers":                 {head(many...), []int{431}},
		"a header of 1 MB":               {head(header{"X-Large", strings.Repeat("a", 1<<20)}), []int{431}},
		"a name of 1 MB":                 {head(header{strings.Repeat("a", 1<<20), "x"}), []int{431}},
		"a target of 1 MB":               {long, []int{431}},
		"a cookie of 60 KB":              {head(header{"Cookie", strings.Repeat("a=b; ", 12_000)}), []int{401}},
		"the preface of HTTP/2":          {preface, []int{400, 401, 404, 405, 505}},
		"a body of 1 GiB, said":          {submit("1073741824", nil), []int{413}},
		"a body of 8 EiB, said":          {submit("9223372036854775807", nil), []int{413}},
		"a body of 2 MiB, sent":          {submit("2097152", bytes.Repeat([]byte(" "), 2<<20)), []int{413}},
		"a body of 2 MiB, chunked":       {submit("", []byte(fmt.Sprintf("200000\r\n%s\r\n0\r\n\r\n", bytes.Repeat([]byte(" "), 2<<20))), chunked), []int{413}},
		"2 MiB in chunks of a byte":      {submit("", []byte(strings.Repeat("1\r\n \r\n", 2<<20)+"0\r\n\r\n"), chunked), []int{400, 413}},
		"a chunk extension of 1 MB":      {submit("", []byte("1;"+strings.Repeat("e", 1<<20)+"\r\n \r\n0\r\n\r\n"), chunked), []int{400}},
		"trailers of 1 MB":               {submit("", []byte("2\r\n{}\r\n0\r\nX-T: "+strings.Repeat("t", 1<<20)+"\r\n\r\n"), chunked), []int{400}},
		"64 MiB in 64 KiB, gzip":         {submit(itoa(packed.Len()), packed.Bytes(), header{"Content-Encoding", "gzip"}), []int{415}},
		"a report of 1 GiB, said":        {report, []int{413}},
		"a million arrays in each other": {submit("1000000", bytes.Repeat([]byte("["), 1_000_000)), []int{400}},
	} {
		began := time.Now()
		a := s.refusal(name, c.request)
		require.Contains(t, c.want, a.status, "%s: %s", name, clip(a.body))
		require.Less(t, time.Since(began), 20*time.Second, name)
	}
	after := s.settlesAt(base)
	t.Logf("before: %s; after: %s", base, after)
	require.Less(t, after.heap, base.heap+32<<20)
	s.works("after")
	lines, n := s.log.wrong()
	require.Zero(t, n, strings.Join(lines, "\n"))
}

// refusal is the answer to a request that the server does not read to its end. It
// waits half a second between answering and closing, which is a reset for who is still
// sending; whoever has not read the answer by then has lost it, and asks again.
func (s *server) refusal(name string, r *request) *answer {
	s.t.Helper()
	for range 10 {
		a, err := (&line{addr: s.addr}).send(r)
		if err == nil {
			return a
		}
		require.ErrorIs(s.t, err, syscall.ECONNRESET, name)
	}
	require.FailNow(s.t, "reset ten times without an answer", name)
	return nil
}
