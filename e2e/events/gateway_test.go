package events

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// gateway stands before the server as a site's own would: it knows the API key,
// which an EventSource cannot send. It can cut the streams that are open.
type gateway struct {
	url     string
	reports chan report

	mu    sync.Mutex
	last  []string // Last-Event-ID of every connection to the stream
	open  map[int]context.CancelFunc
	opens int
}

// report is what a client says it was told.
type report struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Data    string `json:"data"`
	State   string `json:"state"`
	Applied string `json:"applied"`
}

func newGateway(t *testing.T, addr, job string) *gateway {
	t.Helper()
	g := &gateway{reports: make(chan report, 100), open: map[int]context.CancelFunc{}}
	target, err := url.Parse("http://" + addr)
	require.NoError(t, err)
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer dev-key")
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", g.cuttable(proxy))
	mux.HandleFunc("POST /report", g.take)
	mux.HandleFunc("GET /events.mjs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		http.ServeFile(w, r, filepath.Join("..", "node", "events.mjs"))
	})
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><script type=module>\n"+
			"import { follow } from '/events.mjs';\nfollow(EventSource, location.origin, %q);\n</script>", job)
	})
	server := httptest.NewServer(mux)
	g.url = server.URL
	t.Cleanup(func() {
		g.cut()
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return g
}

func (g *gateway) take(_ http.ResponseWriter, r *http.Request) {
	var said report
	if json.NewDecoder(r.Body).Decode(&said) == nil {
		g.reports <- said
	}
}

// cuttable passes calls on; streams until they are cut.
func (g *gateway) cuttable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			g.mu.Lock()
			n := g.opens
			g.opens++
			g.open[n] = cancel
			g.last = append(g.last, r.Header.Get("Last-Event-ID"))
			g.mu.Unlock()
			defer func() {
				g.mu.Lock()
				defer g.mu.Unlock()
				delete(g.open, n)
			}()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// cut breaks every stream that is open.
func (g *gateway) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, cancel := range g.open {
		cancel()
	}
}

// resumed are the Last-Event-IDs of all connections.
func (g *gateway) resumed() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.last...)
}
