package dashboard_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/audit"
	"onejob/auth"
	"onejob/dashboard"
	"onejob/jobs"
	"onejob/roster"
)

const patience = 15 * time.Second

// site is the pages over a store of their own, with a key of every role.
type site struct {
	t      *testing.T
	redis  *miniredis.Miniredis
	rdb    *redis.Client
	keys   *auth.Keys
	store  *jobs.Store
	audit  *audit.Log
	pages  *dashboard.Pages
	server *httptest.Server

	operator, viewer, submit string // secrets
	operatorKey              auth.Key
}

// open starts a site; change may alter what it is made of.
func open(t *testing.T, change ...func(*dashboard.Config)) *site {
	t.Helper()
	m := miniredis.RunT(t)
	s := &site{t: t, redis: m, rdb: redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: -1})}
	s.keys, s.audit = auth.New(s.rdb), audit.New(s.rdb)
	s.store = jobs.NewStore(s.rdb, jobs.Options{})
	s.operator, s.operatorKey = s.key(auth.Operator)
	s.viewer, _ = s.key(auth.Viewer)
	s.submit, _ = s.key(auth.Submit)
	cfg := dashboard.Config{
		Jobs:  dashboard.JobsConfig{Store: s.store},
		Audit: s.audit, Keys: s.keys, Redis: s.rdb, Watch: s.store, Monitor: asynq.RedisClientOpt{Addr: m.Addr()},
		Partitions: s.store.Partitions, Processes: roster.Roster{Redis: s.rdb}.List, Durability: "fsync",
		Providers:    []dashboard.Provider{{Name: "inkjet", Type: "simulated", Concurrency: 10, Routes: []string{"print"}}},
		Certificates: func(context.Context) ([]dashboard.Certificate, error) { return nil, nil },
		AskedToWait:  func(context.Context, string) (time.Time, error) { return time.Time{}, nil },
	}
	for _, c := range change {
		c(&cfg)
	}
	s.pages = dashboard.New(cfg)
	s.server = httptest.NewServer(s.handler())
	t.Cleanup(func() {
		s.pages.Stop()
		s.server.Close()
		require.NoError(t, s.pages.Close())
		_ = s.store.Close()
		_ = s.rdb.Close()
	})
	return s
}

// handler answers a refusal as the API would: with its problem.
func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	for root, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		dashboard.Root: s.pages.Serve, dashboard.MonitorRoot: s.pages.Monitor().Serve,
	} {
		handle := func(w http.ResponseWriter, r *http.Request) {
			var refusal *dashboard.Refusal
			if err := serve(w, r); errors.As(err, &refusal) {
				w.WriteHeader(http.StatusTeapot)
				_, _ = io.WriteString(w, refusal.ProblemName()+": "+refusal.Error())
			}
		}
		mux.HandleFunc(root, handle)
		mux.HandleFunc(root+"/", handle)
	}
	return mux
}

func (s *site) key(role auth.Role) (string, auth.Key) {
	s.t.Helper()
	secret, key, err := s.keys.Create(s.t.Context(), string(role)+"-person", role, "", time.Time{})
	require.NoError(s.t, err)
	return secret, key
}

// browser keeps cookies, follows nothing, and says of itself what browsers say.
type browser struct {
	*site
	cookies map[string]string
	headers map[string]string // sent with every request
}

func (s *site) browser() *browser {
	return &browser{site: s, cookies: map[string]string{}, headers: map[string]string{"Accept": "text/html"}}
}

// signedIn is a browser with a session of that key.
func (s *site) signedIn(key string) *browser {
	s.t.Helper()
	b := s.browser()
	answer := b.login(key, "")
	require.Equal(s.t, http.StatusSeeOther, answer.status, answer.body)
	return b
}

func (b *browser) login(key, next string) reply {
	b.t.Helper()
	form := b.get("/dashboard/login?" + url.Values{"next": {next}}.Encode())
	require.Equal(b.t, http.StatusOK, form.status, form.body)
	return b.post("/dashboard/login", url.Values{"key": {key}, "next": {next}, "proof": {hidden(b.t, form.body, "proof")}})
}

// csrf is the token in the forms of the browser's session.
func (b *browser) csrf() string {
	b.t.Helper()
	return hidden(b.t, b.get("/dashboard/audit").body, "csrf")
}

// hidden is the value of a hidden field.
func hidden(t *testing.T, body, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(body)
	require.NotNil(t, found, "no field %s in %s", name, body)
	return found[1]
}

func (b *browser) get(path string, headers ...string) reply {
	b.t.Helper()
	return b.send(http.MethodGet, path, nil, headers...)
}

func (b *browser) post(path string, form url.Values, headers ...string) reply {
	b.t.Helper()
	return b.send(http.MethodPost, path, form, headers...)
}

// send makes a request; headers are pairs, an empty value takes one away.
func (b *browser) send(method, path string, form url.Values, headers ...string) reply {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, b.server.URL+path, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.server.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range b.headers {
		r.Header.Set(name, value)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	response, err := b.server.Client().Transport.RoundTrip(r)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	for _, cookie := range response.Cookies() {
		b.cookies[cookie.Name] = cookie.Value
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		}
	}
	return reply{response.StatusCode, response.Header, string(body)}
}

// trail is the audit log, newest first.
func (s *site) trail() []audit.Entry {
	s.t.Helper()
	page, err := s.audit.List(s.t.Context(), audit.Query{})
	require.NoError(s.t, err)
	return page.Entries
}

func readAll(t *testing.T, response *http.Response) string {
	t.Helper()
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}
