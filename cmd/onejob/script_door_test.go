package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// door stands before a script's server and remembers what it was asked: who has asked
// has started, and knows what ^C means.
type door struct {
	*httputil.ReverseProxy
	mu    sync.Mutex
	paths []string
	more  chan struct{} // closed at the next request
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.paths = append(d.paths, r.URL.Path)
	close(d.more)
	d.more = make(chan struct{})
	d.mu.Unlock()
	d.ReverseProxy.ServeHTTP(w, r)
}

// asked tells whether a path with that end was; if not, what is closed at the next
// request.
func (d *door) asked(end string) (bool, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range d.paths {
		if strings.HasSuffix(path, end) {
			return true, nil
		}
	}
	return false, d.more
}

// scriptDoor puts a door before the server for the commands that follow.
func scriptDoor(ts *testscript.TestScript, _ bool, _ []string) {
	to, err := url.Parse(ts.Getenv("ONEJOB_URL"))
	ts.Check(err)
	d := &door{more: make(chan struct{}), ReverseProxy: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1,
	}}
	server := httptest.NewServer(d)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ts.Setenv("ONEJOB_URL", server.URL)
	ts.Value(interrupted{}).(*interrupted).door = d
}

// scriptAsked waits until the door was asked for a path with that end.
func scriptAsked(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	for {
		was, more := ts.Value(interrupted{}).(*interrupted).door.asked(args[0])
		if was {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			ts.Fatalf("nobody asked for a path that ends with %s", args[0])
		}
	}
}
