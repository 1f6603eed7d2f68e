package app

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// As many connections as server.max_connections says are served; the next is as soon
// as one of them ends.
func TestMaxConnections(t *testing.T) {
	t.Parallel()
	cfg := parse(t, oneProvider)
	cfg.Server.MaxConnections = 2
	a := New(cfg, WithAPI(), WithEmbeddedRedis(), WithDevKeys())
	require.NoError(t, a.Start(t.Context()))
	defer func() { require.NoError(t, a.Close()) }()
	ask := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", a.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		return conn, bufio.NewReader(conn)
	}
	answered := func(in *bufio.Reader) {
		response, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		require.Equal(t, http.StatusOK, response.StatusCode)
		_, err = io.ReadAll(response.Body)
		require.NoError(t, err)
	}
	first, in := ask()
	answered(in)
	_, in = ask()
	answered(in)
	third, in := ask()
	require.NoError(t, third.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
	_, err := in.Peek(1)
	var late net.Error
	require.ErrorAs(t, err, &late, "the third has to wait")
	require.True(t, late.Timeout())

	require.NoError(t, first.Close())
	require.NoError(t, third.SetReadDeadline(time.Now().Add(20*time.Second)))
	answered(in)
}

// Who is still sending when he is answered reads the answer to its end: the connection
// is closed on the server's side first, and reset only later.
func TestMaxConnections_TheAnswerIsReadWhole(t *testing.T) {
	t.Parallel()
	a := New(parse(t, oneProvider), WithAPI(), WithEmbeddedRedis(), WithDevKeys())
	require.NoError(t, a.Start(t.Context()))
	defer func() { require.NoError(t, a.Close()) }()
	conn, err := net.Dial("tcp", a.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("X-Long: value\r\n", 10_000))
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
	_, err = io.ReadAll(response.Body)
	require.NoError(t, err)
}
