package recovery_test

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands between processes and Redis and loses replies: a command that
// lose picks gets to the server, its reply goes nowhere, and the connection
// breaks. go-redis then sends the command again.
type proxy struct {
	listener net.Listener
	target   string
	lose     func(request, reply []byte) bool
	left     atomic.Int64 // how many replies are still to be lost
	lost     atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	done  sync.WaitGroup
}

func newProxy(t *testing.T, target string, times int64, lose func(request, reply []byte) bool) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, target: target, lose: lose, conns: map[net.Conn]struct{}{}}
	p.left.Store(times)
	p.done.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}

func (p *proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		p.keep(from, to)
		p.done.Go(func() { p.serve(from, to) })
	}
}

func (p *proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		p.conns[conn] = struct{}{}
	}
}

// request is what a client has sent since the latest reply.
type request struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (p *proxy) serve(from, to net.Conn) {
	var asked request
	p.done.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			asked.mu.Lock()
			asked.bytes.Write(buffer[:n])
			asked.mu.Unlock()
			if n > 0 {
				_, _ = to.Write(buffer[:n])
			}
			if err != nil {
				_ = to.Close()
				return
			}
		}
	})
	p.replies(from, to, &asked)
	p.mu.Lock()
	delete(p.conns, from)
	delete(p.conns, to)
	p.mu.Unlock()
}

func (p *proxy) replies(from, to net.Conn, asked *request) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := to.Read(buffer)
		if n > 0 {
			asked.mu.Lock()
			lose := p.lose(asked.bytes.Bytes(), buffer[:n]) && p.left.Add(-1) >= 0
			asked.bytes.Reset()
			asked.mu.Unlock()
			if lose {
				p.lost.Add(1)
				return
			}
			_, _ = from.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// has tells whether a text has all the words.
func has(text []byte, words ...string) bool {
	for _, word := range words {
		if !bytes.Contains(text, []byte(word)) {
			return false
		}
	}
	return true
}
