package hostile

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Bounds of what idle connections may cost.
const (
	perConnection = 64 << 10        // bytes of resident memory
	promptly      = 5 * time.Second // on a machine that is busy with other tests
)

// Ten thousand connections that have asked once and say nothing more cost little, and
// nobody else waits for them. CONNECTIONS in the environment says how many.
func TestIdleConnections(t *testing.T) { //nolint:paralleltest // it measures
	n := int(number(t, "CONNECTIONS", 10_000))
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Max < uint64(n)+1000 { // Go raises the soft limit by itself, here and in the child
		t.Skipf("this test opens %d connections, and the hard limit of open files (ulimit -Hn) is %d", n, limit.Max)
	}
	s := startServer(t, keeping)
	s.works("before")
	base := s.holds()

	conns, began := s.open(n), time.Now()
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	held := s.holds()
	require.GreaterOrEqual(t, held.files, n, "the server holds them all")
	each := (held.rss - base.rss) / int64(n)
	t.Logf("before: %s; with %d idle connections: %s: %d KiB each", base, n, held, each>>10)
	require.Less(t, each, int64(perConnection))

	var took []time.Duration
	for i := range 100 {
		asked := time.Now()
		id := s.submit(ownKey, "meanwhile-"+itoa(i), `{"route":"print","input":1}`)
		status, _ := s.try(http.MethodGet, "/v1/jobs/"+id, ownKey, "")
		require.Equal(t, http.StatusOK, status)
		took = append(took, time.Since(asked))
	}
	slices.Sort(took)
	t.Logf("meanwhile a POST and a GET over new connections: median %s, slowest %s (%s after the last was opened)",
		took[len(took)/2].Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond), time.Since(began).Round(time.Second))
	require.Less(t, took[len(took)-1], promptly)

	for _, c := range conns {
		_ = c.Close()
	}
	t.Logf("after: %s", s.settlesAt(base))
	s.works("after")
}

// open opens n connections, each of which has been answered once.
func (s *server) open(n int) []net.Conn {
	s.t.Helper()
	var mu sync.Mutex
	conns := make([]net.Conn, 0, n)
	var left atomic.Int64
	left.Store(int64(n))
	var failed atomic.Value
	var opening sync.WaitGroup
	for worker := range 16 {
		opening.Go(func() {
			dialer := net.Dialer{Timeout: answerTime, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(worker+1))}}
			said := make([]byte, 2048)
			for left.Add(-1) >= 0 {
				conn, err := dialer.Dial("tcp", s.addr)
				if err == nil {
					mu.Lock()
					conns = append(conns, conn)
					mu.Unlock()
					_ = conn.SetDeadline(time.Now().Add(answerTime))
					if _, err = fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", s.addr); err == nil {
						_, err = conn.Read(said)
					}
				}
				if err != nil {
					failed.Store(err)
					return
				}
			}
		})
	}
	opening.Wait()
	if err := failed.Load(); err != nil {
		for _, c := range conns {
			_ = c.Close()
		}
		require.NoError(s.t, err.(error))
	}
	return conns
}
