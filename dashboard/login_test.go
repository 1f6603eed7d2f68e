package dashboard_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/audit"
	"onejob/auth"
	"onejob/dashboard"
)

func TestWithoutASessionABrowserIsSentToTheLogin(t *testing.T) {
	t.Parallel()
	s := open(t)
	for path, next := range map[string]string{
		"/dashboard":                      "/dashboard/",
		"/dashboard/audit?actor=a&after=": "/dashboard/audit?actor=a&after=",
		"/dashboard/nothing":              "/dashboard/nothing",
		"/monitor/queues/inkjet":          "/monitor/queues/inkjet",
	} {
		answer := s.browser().get(path)
		require.Equal(t, http.StatusSeeOther, answer.status, path)
		require.Equal(t, "/dashboard/login?next="+url.QueryEscape(next), answer.header.Get("Location"))
		require.Empty(t, answer.header.Get("WWW-Authenticate"), "or the browser asks by itself")

		answer = s.browser().get(path, "Accept", "application/json")
		require.Equal(t, http.StatusTeapot, answer.status, path)
		require.Contains(t, answer.body, "unauthorized: ")
		require.NotEmpty(t, answer.header.Get("WWW-Authenticate"))
	}
	fragment := s.browser().get("/dashboard/audit", "HX-Request", "true", "HX-Current-URL", s.server.URL+"/dashboard/audit?actor=a")
	require.Equal(t, http.StatusUnauthorized, fragment.status)
	require.Equal(t, "/dashboard/login?next=%2Fdashboard%2Faudit%3Factor%3Da", fragment.header.Get("HX-Redirect"))
}

// asynqmon's own calls must not make a browser open its password dialog.
func TestMonitorsCallsAreNotAnsweredWithABasicChallenge(t *testing.T) {
	t.Parallel()
	s := open(t)
	answer := s.browser().get("/monitor/api/queues", "Accept", "application/json", "Sec-Fetch-Site", "same-origin")
	require.Equal(t, `Bearer realm="onejob"`, answer.header.Get("WWW-Authenticate"))
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.browser()
	answer := b.login(" "+s.operator+"\n", "/monitor")
	require.Equal(t, http.StatusSeeOther, answer.status, answer.body)
	require.Equal(t, "/monitor", answer.header.Get("Location"))
	require.Equal(t, http.StatusOK, b.get("/dashboard/audit").status)
	require.Equal(t, http.StatusOK, b.get("/monitor").status)
	require.Equal(t, "/dashboard/audit", b.get("/dashboard/login?next=/dashboard/audit").header.Get("Location"), "signed in already")

	entry := s.trail()[0]
	require.Equal(t, audit.Entry{
		ID: entry.ID, At: entry.At, Actor: "operator:operator-person", KeyID: s.operatorKey.ID, Role: "operator",
		Action: "login", From: "127.0.0.1", Outcome: audit.Done,
	}, entry)
}

// The cookie is out of reach of scripts and of other sites, over https also of
// sister sites, and nothing that is stored is it.
func TestTheCookie(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header []string
		config func(*dashboard.Config)
		secure bool
	}{
		"http":         {nil, nil, false},
		"behind https": {[]string{"X-Forwarded-Proto", "https"}, nil, true},
		"public https": {nil, func(c *dashboard.Config) { c.Secure = true }, true},
		"odd proxy":    {[]string{"X-Forwarded-Proto", "gopher"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := tt.config
			if change == nil {
				change = func(*dashboard.Config) {}
			}
			s := open(t, change)
			b := s.browser()
			for i := 0; i < len(tt.header); i += 2 {
				b.headers[tt.header[i]] = tt.header[i+1]
			}
			answer := b.login(s.operator, "")
			require.Equal(t, http.StatusSeeOther, answer.status, answer.body)
			want := "oj_session"
			if tt.secure {
				want = "__Host-oj_session"
			}
			var found *http.Cookie
			for _, c := range (&http.Response{Header: answer.header}).Cookies() {
				if c.Name == want {
					found = c
				}
			}
			require.NotNil(t, found, answer.header)
			require.True(t, found.HttpOnly)
			require.Equal(t, tt.secure, found.Secure)
			require.Equal(t, http.SameSiteLaxMode, found.SameSite)
			require.Equal(t, "/", found.Path)
			require.Empty(t, found.Domain)
			require.InDelta(t, 8*time.Hour.Seconds(), found.MaxAge, 60)
			require.GreaterOrEqual(t, len(found.Value), 40)
			require.NotContains(t, s.redis.Dump(), found.Value, "the store holds a digest alone")
			require.NotContains(t, s.redis.Dump(), s.operator)
			require.Equal(t, http.StatusOK, b.get("/dashboard/audit").status)
		})
	}
}

// One that was set over http, by whoever was on the way, is nothing over https.
func TestOverHTTPSAPlainCookieIsNotTaken(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	require.Equal(t, http.StatusSeeOther, b.get("/dashboard/audit", "X-Forwarded-Proto", "https").status)
}

func TestLoginLeadsToThisSiteOnly(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, next := range []string{
		"https://evil.example/dashboard", "//evil.example", "/\\evil.example", "/dashboard\\@evil.example", "javascript:alert(1)",
		"/dashboard\t//evil.example", "/dashboardevil", "/v1/jobs", "dashboard", "/dashboard.evil.example", "http:/dashboard", "/monitoring", "",
	} {
		answer := s.browser().login(s.operator, next)
		require.Equal(t, "/dashboard", answer.header.Get("Location"), next)
		require.Equal(t, "/dashboard", s.signedInOnce().get("/dashboard/login?"+url.Values{"next": {next}}.Encode()).header.Get("Location"), next)
	}
	for _, next := range []string{"/dashboard", "/dashboard/audit?actor=x", "/monitor", "/monitor/queues/inkjet", "/dashboard?x=//y"} {
		require.Equal(t, next, s.browser().login(s.operator, next).header.Get("Location"))
	}
}

// signedInOnce is a browser with a session made for it alone.
func (s *site) signedInOnce() *browser { return s.signedIn(s.operator) }

func TestLoginRefuses(t *testing.T) {
	t.Parallel()
	s := open(t)
	expired, _, err := s.keys.Create(t.Context(), "late", auth.Operator, "", time.Now().Add(50*time.Millisecond))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := s.keys.Authenticate(t.Context(), expired)
		return err != nil
	}, patience, 5*time.Millisecond)
	for name, tt := range map[string]struct {
		key    string
		status int
		says   string
	}{
		"wrong":       {"nonsense", http.StatusUnauthorized, "not accepted"},
		"empty":       {"", http.StatusUnauthorized, "not accepted"},
		"expired":     {expired, http.StatusUnauthorized, "not accepted"},
		"owner's key": {s.submit, http.StatusForbidden, "for operators and viewers"},
	} {
		b := s.browser()
		answer := b.login(tt.key, "")
		require.Equal(t, tt.status, answer.status, name)
		require.Contains(t, answer.body, tt.says, name)
		require.Contains(t, answer.body, `role="alert"`)
		require.NotContains(t, b.cookies, "oj_session", name)
		require.Equal(t, http.StatusSeeOther, b.get("/dashboard/audit").status)
		entry := s.trail()[0]
		require.Equal(t, "login", entry.Action)
		require.Equal(t, audit.Refused, entry.Outcome, name)
	}
	require.NotContains(t, s.redis.Dump(), "nonsense", "what was typed is kept nowhere")
}

// Another site can neither read the form nor the cookie it goes with, so it cannot
// sign somebody in with a key of its own.
func TestLoginTakesItsOwnFormOnly(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := s.browser()
	proof := hidden(t, other.get("/dashboard/login").body, "proof")
	for name, tt := range map[string]struct {
		proof   string
		headers []string
	}{
		"no proof":              {"", nil},
		"another browser's":     {proof, nil},
		"that of no cookie":     {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", nil},
		"cross-site":            {"own", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}},
		"older browser, origin": {"own", []string{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}},
	} {
		b := s.browser()
		form := b.get("/dashboard/login")
		if tt.proof == "own" {
			tt.proof = hidden(t, form.body, "proof")
		}
		answer := b.post("/dashboard/login", url.Values{"key": {s.operator}, "proof": {tt.proof}}, tt.headers...)
		require.Equal(t, http.StatusForbidden, answer.status, name)
		require.NotContains(t, b.cookies, "oj_session", name)
	}
	b := s.browser()
	b.get("/dashboard/login")
	delete(b.cookies, "oj_login")
	for _, proof := range []string{proof, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"} { // SHA-256 of nothing
		answer := b.post("/dashboard/login", url.Values{"key": {s.operator}, "proof": {proof}})
		require.Equal(t, http.StatusForbidden, answer.status, "without its cookie")
		delete(b.cookies, "oj_login")
	}
}

// Nobody can give a browser a session before and share it afterwards.
func TestLoginMakesANewTokenAndEndsTheOldSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.viewer)
	before := b.cookies["oj_session"]
	form := s.browser()
	proof := hidden(t, form.get("/dashboard/login").body, "proof")
	b.cookies["oj_login"] = form.cookies["oj_login"]
	answer := b.post("/dashboard/login", url.Values{"key": {s.operator}, "proof": {proof}})
	require.Equal(t, http.StatusSeeOther, answer.status)
	require.NotEqual(t, before, b.cookies["oj_session"])
	old := s.browser()
	old.cookies["oj_session"] = before
	require.Equal(t, http.StatusSeeOther, old.get("/dashboard/audit").status, "the old one is over")
}

func TestManyWrongKeys(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.browser()
	for range 10 {
		require.Equal(t, http.StatusUnauthorized, b.login("wrong", "").status)
	}
	noted := len(s.trail())
	answer := b.login("wrong", "")
	require.Equal(t, http.StatusTooManyRequests, answer.status)
	require.Contains(t, answer.body, "Too many wrong keys")
	require.NotEmpty(t, answer.header.Get("Retry-After"))
	require.Len(t, s.trail(), noted, "the trail is not flooded")
	require.Equal(t, http.StatusSeeOther, b.login(s.operator, "").status, "nobody is locked out")

	s.redis.FastForward(time.Minute)
	require.Equal(t, http.StatusUnauthorized, s.browser().login("wrong", "").status)
}

func TestLogout(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, key := range []string{s.operator, s.viewer} {
		b := s.signedIn(key)
		token, csrf := b.cookies["oj_session"], b.csrf()
		require.Equal(t, http.StatusForbidden, b.post("/dashboard/logout", url.Values{}).status, "another site would not sign out, either")
		answer := b.post("/dashboard/logout", url.Values{"csrf": {csrf}})
		require.Equal(t, http.StatusSeeOther, answer.status, answer.body)
		require.NotContains(t, b.cookies, "oj_session")
		b.cookies["oj_session"] = token
		require.Equal(t, http.StatusSeeOther, b.get("/dashboard/audit").status, "the token is worth nothing")
		require.Equal(t, "logout", s.trail()[0].Action)
	}
}

// A session ends with its key, at once where it was revoked.
func TestASessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	require.Equal(t, http.StatusOK, b.get("/dashboard/audit").status)
	require.NoError(t, s.keys.Revoke(t.Context(), s.operatorKey.ID))
	require.Equal(t, http.StatusSeeOther, b.get("/dashboard/audit").status)
	require.Equal(t, http.StatusSeeOther, b.get("/monitor").status)
	for _, key := range s.redis.Keys() {
		require.False(t, strings.HasPrefix(key, "oj:session:"), "nothing is left of it")
	}
}

func TestASessionEndsByItself(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *dashboard.Config) { c.Session, c.Idle = 10*time.Hour, time.Hour })
	b := s.signedIn(s.operator)
	s.redis.FastForward(59 * time.Minute)
	require.Equal(t, http.StatusOK, b.get("/dashboard/audit").status)
	s.redis.FastForward(2 * time.Minute)
	require.Equal(t, http.StatusSeeOther, b.get("/dashboard/audit").status, "idle")

	short := open(t, func(c *dashboard.Config) { c.Session = 300 * time.Millisecond })
	b = short.signedIn(short.operator)
	require.Eventually(t, func() bool { return b.get("/dashboard/audit").status == http.StatusSeeOther },
		patience, 10*time.Millisecond, "its time is over, however busy")
}

// What a live page fetches by itself keeps no session from ending.
func TestOnlyAPersonKeepsASessionAlive(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *dashboard.Config) { c.Idle = 4 * time.Second })
	b := s.signedIn(s.operator)
	ends := time.Now().Add(4 * time.Second)
	require.Eventually(t, func() bool {
		answer := b.get("/dashboard/audit", "X-Onejob-Live", "1")
		return answer.status == http.StatusSeeOther
	}, patience, 50*time.Millisecond)
	require.WithinDuration(t, ends, time.Now(), 3*time.Second)

	b = s.signedIn(s.operator)
	until := time.Now().Add(6 * time.Second)
	require.Never(t, func() bool {
		return time.Now().Before(until) && b.get("/dashboard/audit").status != http.StatusOK
	}, 6*time.Second, 100*time.Millisecond)
}

func TestMadeUpSessions(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, token := range []string{"", "x", "../", strings.Repeat("a", 4000), s.operator} {
		b := s.browser()
		b.cookies["oj_session"] = token
		require.Equal(t, http.StatusSeeOther, b.get("/dashboard/audit").status, token)
	}
}

// A real cookie jar of net/http keeps the cookies as browsers would.
func TestWithACookieJar(t *testing.T) {
	t.Parallel()
	s := open(t)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := *s.server.Client()
	client.Jar = jar
	get := func(path string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+path, nil)
		require.NoError(t, err)
		r.Header.Set("Accept", "text/html")
		response, err := client.Do(r)
		require.NoError(t, err)
		return readAll(t, response)
	}
	form := url.Values{"key": {s.operator}, "next": {"/dashboard/audit"}, "proof": {hidden(t, get("/dashboard/audit"), "proof")}}
	response, err := client.PostForm(s.server.URL+"/dashboard/login", form)
	require.NoError(t, err)
	require.Contains(t, readAll(t, response), "Audit trail")
}
