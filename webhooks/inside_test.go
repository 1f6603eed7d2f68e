package webhooks

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However an address of the inside is written, nothing is sent there: what a look-up
// makes of it is judged, and not its spelling. Some resolvers read inet_aton's old
// forms (decimal, octal, hexadecimal, with parts left out), Go's own does not.
func TestSend_SpellingsOfTheInside(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	// The resolver takes every name for the machine itself, as the worst one would.
	sender := newSender(Addresses{AllowHTTP: true}, 2*time.Second, &net.Dialer{Resolver: nameServer(t, [4]byte{127, 0, 0, 1})})
	t.Cleanup(sender.Close)
	for _, host := range []string{
		"2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "0", "0.0.0.0", "127.0.0.1.", "127.000.000.001",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]",
		"[::1%25lo]", "localhost", "LocalHost.", "a.localhost", "①②⑦.⓪.⓪.①", "127。0。0。1", "1̲27.0.0.1", "%31%32%37.0.0.1",
	} {
		o := sender.Send(testContext(t), Message{ID: "m", URL: "http://" + host + ":" + port + "/", Secrets: []string{testSecret}})
		require.False(t, o.Delivered, host)
		require.Zero(t, o.Status, host)
	}
	require.Empty(t, reached)
}

// A name with one address outside and others inside leads nowhere inside, whichever is
// tried; and so do names of every special network.
func TestSend_NamesOfTheInside(t *testing.T) {
	t.Parallel()
	for _, address := range [][4]byte{
		{127, 0, 0, 1},
		{10, 0, 0, 1},
		{172, 16, 0, 1},
		{192, 168, 0, 1},
		{169, 254, 169, 254},
		{100, 64, 0, 1},
		{100, 100, 100, 200},
		{0, 0, 0, 0},
		{168, 63, 129, 16},
		{192, 0, 0, 192},
		{198, 18, 0, 1},
		{224, 0, 0, 1},
		{255, 255, 255, 255},
	} {
		sender := newSender(Addresses{}, 2*time.Second, &net.Dialer{Resolver: nameServer(t, address)})
		o := sender.Send(testContext(t), Message{ID: "m", URL: "https://receiver.example/", Secrets: []string{testSecret}})
		sender.Close()
		require.Equal(t, errPrivate.Error(), o.Error, "%v", address)
		require.NotContains(t, o.Error, "refused the connection")
	}
}

// The environment of the process does not lead deliveries over a proxy, which would
// look names up by itself, where nobody judges what they stand for.
func TestSend_OverNoProxy(t *testing.T) {
	t.Parallel()
	sender := NewSender(Addresses{}, time.Second)
	t.Cleanup(sender.Close)
	transport, ok := sender.client.Transport.(*http.Transport)
	require.True(t, ok)
	require.Nil(t, transport.Proxy)
}

// What a receiver sends back is in nobody's hands but ours: no part of it is told.
func TestSend_TellsNothingOfTheAnswer(t *testing.T) {
	t.Parallel()
	o := receive(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Secret", "metadata-token")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(strings.Repeat("metadata-token ", 100)))
	})
	require.NotContains(t, o.Error, "metadata-token")
}
