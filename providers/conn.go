package providers

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
)

// wireKey carries the Wire of a call in the context of its request.
type wireKey struct{}

// WithWire binds wire to the requests made with the returned context: the shared
// transport asks wire before the first byte and tells it of every byte.
func WithWire(ctx context.Context, wire *Wire) context.Context {
	return context.WithValue(ctx, wireKey{}, wire)
}

// wireFrom returns the Wire of ctx, or nil: the request is no create.
func wireFrom(ctx context.Context) *Wire {
	wire, _ := ctx.Value(wireKey{}).(*Wire)
	return wire
}

// conn is a TCP connection that belongs to one call at a time. HTTP/1.1 without
// pipelining guarantees that: a connection is given out again only after the
// answer was read whole.
type conn struct {
	net.Conn
	call atomic.Pointer[binding]
}

// binding is the use of a connection by one call.
type binding struct {
	wire *Wire
	left atomic.Bool
}

// bind gives the connection to the call of wire; nil takes it away from the last
// one, for requests that are no creates.
func (c *conn) bind(wire *Wire) {
	if wire == nil {
		c.call.Store(nil)
		return
	}
	c.call.Store(&binding{wire: wire})
}

// Write asks the wire before the first byte of a call. It writes nothing when
// the wire says no, so that a refused call is proven not to have been sent.
func (c *conn) Write(p []byte) (int, error) {
	call := c.call.Load()
	if call == nil {
		return c.Conn.Write(p)
	}
	if !call.left.Load() {
		if err := call.wire.Leaving(); err != nil {
			return 0, err
		}
		call.left.Store(true)
	}
	// Counted before, because an answer can be here before Write returns: what is
	// said to be written is never less than what was.
	call.wire.Wrote(len(p))
	n, err := c.Conn.Write(p)
	call.wire.Wrote(n - len(p))
	if err != nil && n == 0 {
		call.wire.Unwritten()
	}
	return n, err
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if call := c.call.Load(); call != nil {
		call.wire.Read(n)
		if err != nil {
			call.wire.end()
		}
	}
	return n, err
}

// tracked returns our connection beneath what net/http got, or nil.
func tracked(got net.Conn) *conn {
	if secure, ok := got.(*tls.Conn); ok {
		got = secure.NetConn()
	}
	ours, _ := got.(*conn)
	return ours
}
