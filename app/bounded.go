package app

import (
	"net"
	"sync"
)

// boundedListener holds so many connections open at a time; who comes then waits in
// the system's own queue. Unlike netutil.LimitListener it keeps for its connections
// that they can close their side first: net/http does so when it has answered a request
// it will not read to its end, for a client that is still sending would else be reset
// before it has read the answer (RFC 9112 §9.6).
type boundedListener struct {
	*net.TCPListener
	open   chan struct{}
	closed chan struct{}
	close  sync.Once
}

func boundListener(l *net.TCPListener, most int) *boundedListener {
	return &boundedListener{TCPListener: l, open: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept waits until there is room, and for a connection.
func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.AcceptTCP()
	if err != nil {
		<-l.open
		return nil, err //nolint:wrapcheck // net/http looks at what it is
	}
	return &boundedConn{TCPConn: conn, left: sync.OnceFunc(func() { <-l.open })}, nil
}

// Close also ends an Accept that waits for room.
func (l *boundedListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.TCPListener.Close() //nolint:wrapcheck // as above
}

type boundedConn struct {
	*net.TCPConn
	left func()
}

// Close makes room for another.
func (c *boundedConn) Close() error {
	defer c.left()
	return c.TCPConn.Close() //nolint:wrapcheck // as above
}
