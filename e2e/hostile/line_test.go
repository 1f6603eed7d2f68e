package hostile

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"time"
)

// Times of the client.
const (
	answerTime = 30 * time.Second       // an answer is due within
	hangUpTime = 100 * time.Millisecond // what may wait is given up after
)

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	hungUp bool // by us, before it was whole
}

func (a *answer) media() string {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return media
}

// line is a connection that is used for one request after the other.
type line struct {
	addr   string
	source net.Addr // of the loopback network: each has ports of its own
	conn   *net.TCPConn
	in     *bufio.Reader
}

func (l *line) connect() error {
	if l.conn != nil {
		return nil
	}
	dialer := net.Dialer{Timeout: answerTime, LocalAddr: l.source}
	conn, err := dialer.Dial("tcp", l.addr)
	if err != nil {
		return err
	}
	l.conn = conn.(*net.TCPConn)
	l.in = bufio.NewReader(conn)
	return nil
}

// cut resets the connection, which leaves no port waiting.
func (l *line) cut() {
	if l.conn == nil {
		return
	}
	_ = l.conn.SetLinger(0)
	_ = l.conn.Close()
	l.conn = nil
}

// errNoAnswer says that the server closed the connection without a word.
var errNoAnswer = errors.New("no answer")

// send sends r and reads its answer.
func (l *line) send(r *request) (*answer, error) {
	if r.fresh {
		l.cut()
		defer l.cut()
	}
	if err := l.connect(); err != nil {
		return nil, err
	}
	limit := answerTime
	if r.waits {
		limit = hangUpTime
	}
	_ = l.conn.SetDeadline(time.Now().Add(limit))
	raw, conn := r.bytes(), l.conn
	sent := make(chan struct{})
	write := func() {
		defer close(sent)
		_, _ = conn.Write(raw) // the server may answer, and close, before it has read all
		if r.shut {
			_ = conn.CloseWrite()
		}
	}
	if len(raw) > 64<<10 {
		go write()
		defer func() { <-sent }()
	} else {
		write()
	}
	a, err := l.read(r)
	if err != nil {
		l.cut()
		if r.waits && errors.Is(err, os.ErrDeadlineExceeded) {
			return &answer{hungUp: true}, nil
		}
	}
	return a, err
}

func (l *line) read(r *request) (*answer, error) {
	for {
		response, err := http.ReadResponse(l.in, &http.Request{Method: r.method})
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				err = errNoAnswer
			}
			return nil, err
		}
		if response.StatusCode < http.StatusOK && response.StatusCode != http.StatusSwitchingProtocols {
			continue // go on with the body, which has been sent
		}
		a := &answer{status: response.StatusCode, header: response.Header}
		if a.media() == "text/event-stream" {
			a.hungUp = true
			l.cut()
			return a, nil
		}
		a.body, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.Close || response.StatusCode == http.StatusSwitchingProtocols {
			l.cut()
		}
		return a, err
	}
}
