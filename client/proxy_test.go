package client_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands before a server and does to each POST what the next mischief says;
// without any it passes calls on.
type proxy struct {
	url    string
	target string
	http   *http.Client

	mu       sync.Mutex
	mischief []mischief
	posts    []post
}

// post is one POST as the proxy saw it.
type post struct{ key, body string }

// mischief answers in the place of the proxy. pass makes the call at the server and
// gives its answer, unsent.
type mischief func(w http.ResponseWriter, r *http.Request, pass func() (*http.Response, []byte))

func newProxy(t *testing.T, addr string) *proxy {
	t.Helper()
	transport := &http.Transport{}
	p := &proxy{target: "http://" + addr, http: &http.Client{Transport: transport}}
	server := httptest.NewServer(p)
	p.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	pass := func() (*http.Response, []byte) { return p.pass(r, body) }
	if m := p.next(r, body); m != nil {
		m(w, r, pass)
		return
	}
	send(w, pass)
}

func (p *proxy) next(r *http.Request, body []byte) mischief {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method == http.MethodPost {
		p.posts = append(p.posts, post{r.Header.Get("Idempotency-Key"), string(body)})
	}
	if len(p.mischief) == 0 {
		return nil
	}
	m := p.mischief[0]
	p.mischief = p.mischief[1:]
	return m
}

func (p *proxy) pass(r *http.Request, body []byte) (*http.Response, []byte) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Header = r.Header.Clone()
	response, err := p.http.Do(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return response, answer
}

// do plans the mischief of the calls to come, in their order.
func (p *proxy) do(m ...mischief) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mischief = m
}

// sent takes the POSTs so far, which must all have been alike; it says how many.
func (p *proxy) sent(t *testing.T) (n int, key string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NotEmpty(t, p.posts)
	for _, again := range p.posts {
		require.Equal(t, p.posts[0], again, "every try carries the same key and the same bytes")
	}
	return len(p.posts), p.posts[0].key
}

func send(w http.ResponseWriter, pass func() (*http.Response, []byte)) {
	response, body := pass()
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
}

// What goes wrong on the way.

// dropped does the work, and breaks the connection instead of answering.
func dropped(_ http.ResponseWriter, _ *http.Request, pass func() (*http.Response, []byte)) {
	pass()
	panic(http.ErrAbortHandler)
}

// refused breaks the connection before anything is done.
func refused(http.ResponseWriter, *http.Request, func() (*http.Response, []byte)) {
	panic(http.ErrAbortHandler)
}

// cut does the work and sends half of the answer.
func cut(w http.ResponseWriter, _ *http.Request, pass func() (*http.Response, []byte)) {
	response, body := pass()
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// halved does the work and sends half of the answer as if it were all.
func halved(w http.ResponseWriter, _ *http.Request, pass func() (*http.Response, []byte)) {
	response, body := pass()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body[:len(body)/2])
}

// stalled does the work and never answers.
func stalled(_ http.ResponseWriter, r *http.Request, pass func() (*http.Response, []byte)) {
	pass()
	<-r.Context().Done()
}

// says answers with a status before anything is done; does, after.
func says(status int, headers ...string) mischief {
	return func(w http.ResponseWriter, _ *http.Request, _ func() (*http.Response, []byte)) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		http.Error(w, "<html>\x1b[31mBad gateway</html>", status)
	}
}

func doesAndSays(status int) mischief {
	return func(w http.ResponseWriter, r *http.Request, pass func() (*http.Response, []byte)) {
		pass()
		says(status)(w, r, nil)
	}
}
