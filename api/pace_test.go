package api

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// page answers with so much text, and tells when and how the writing ended.
type page struct {
	size  int
	ended chan error
}

func (p page) Serve(w http.ResponseWriter, _ *http.Request) error {
	_, err := w.Write(bytes.Repeat([]byte("a"), p.size))
	p.ended <- err
	return nil
}

// A client that does not take an ordinary answer, either, does not hold it for ever.
func TestAnswerNobodyTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, ended := New(Config{}, still{}, nil, anyone{}), make(chan error, 1)
		s.Mount("/page", page{1 << 20, ended})
		conn, began := connect(t, s), time.Now()
		_, err := io.WriteString(conn, "GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		require.Error(t, <-ended)
		require.Equal(t, paceTime, time.Since(began))
	})
}

// Who takes a large answer slowly, but takes it, gets the whole of it.
func TestAnswerTakenSlowly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, ended := New(Config{}, still{}, nil, anyone{}), make(chan error, 1)
		s.Mount("/page", page{1 << 20, ended})
		conn, began := connect(t, s), time.Now()
		_, err := io.WriteString(conn, "GET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		require.NoError(t, err)
		taken, piece := 0, make([]byte, pacePiece)
		slowly := time.NewTicker(paceTime / 3)
		defer slowly.Stop()
		for {
			<-slowly.C
			n, err := io.ReadFull(conn, piece)
			taken += n
			if err != nil {
				break
			}
		}
		require.NoError(t, <-ended)
		require.Greater(t, taken, 1<<20)
		require.Greater(t, time.Since(began), 5*paceTime, "longer than any one piece may take")
	})
}

// A body that nobody reads does not keep its connection, either.
func TestBodyNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, began := connect(t, New(Config{}, still{}, nil, anyone{})), time.Now()
		_, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Contains(t, string(answer), "200 OK")
		require.Equal(t, headerTimeout+bodyTimeout, time.Since(began).Round(time.Second))
	})
}

// A request whose head does not end is given up, the first of a connection and each
// after it.
func TestHeadThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"first": "", "second": "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn, began := connect(t, New(Config{}, still{}, nil, anyone{})), time.Now()
				dripped := make(chan struct{})
				go func() {
					defer close(dripped)
					_, _ = io.WriteString(conn, before+"GET /healthz HTTP/1.1\r\nHost: x\r\n")
					everySecond := time.NewTicker(time.Second)
					defer everySecond.Stop()
					for { // a header, for ever
						if _, err := io.WriteString(conn, "X-A: b\r\n"); err != nil {
							return
						}
						<-everySecond.C
					}
				}()
				_, _ = io.Copy(io.Discard, conn)
				require.Equal(t, headerTimeout, time.Since(began).Round(time.Second))
				_ = conn.Close()
				<-dripped
			})
		})
	}
}
