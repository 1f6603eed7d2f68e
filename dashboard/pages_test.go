package dashboard_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/audit"
	"onejob/dashboard"
	"onejob/roster"
)

const pause = "/dashboard/providers/inkjet/pause"

func (s *site) paused() bool {
	s.t.Helper()
	return s.redis.Exists("asynq:{inkjet}:paused")
}

// What changes something carries the session's token and comes from a page of ours.
func TestChangesAreProtected(t *testing.T) {
	t.Parallel()
	s := open(t)
	b, other := s.signedIn(s.operator), s.signedIn(s.operator)
	token, foreign := b.csrf(), other.csrf()
	require.NotEqual(t, token, foreign)
	good := url.Values{"csrf": {token}, "reason": {"out of paper"}}
	for name, tt := range map[string]struct {
		form    url.Values
		headers []string
		good    bool
	}{
		"no token":              {url.Values{"reason": {"x"}}, nil, false},
		"empty token":           {url.Values{"csrf": {""}, "reason": {"x"}}, nil, false},
		"another's token":       {url.Values{"csrf": {foreign}, "reason": {"x"}}, nil, false},
		"cross-site":            {good, []string{"Sec-Fetch-Site", "cross-site"}, false},
		"sister site":           {good, []string{"Sec-Fetch-Site", "same-site"}, false},
		"another origin":        {good, []string{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, false},
		"hidden origin":         {good, []string{"Sec-Fetch-Site", "", "Origin", "null"}, false},
		"wrong token in header": {good, []string{"X-CSRF-Token", foreign}, false},
		"own form":              {good, nil, true},
		"older browser":         {good, []string{"Sec-Fetch-Site", ""}, true},
		"by htmx":               {url.Values{"reason": {"x"}}, []string{"X-CSRF-Token", token}, true},
	} {
		s.redis.Del("asynq:{inkjet}:paused")
		before := len(s.trail())
		answer := b.post(pause, tt.form, tt.headers...)
		require.Equal(t, tt.good, s.paused(), name)
		if tt.good {
			require.Equal(t, http.StatusSeeOther, answer.status, name)
			continue
		}
		require.Equal(t, http.StatusForbidden, answer.status, name)
		require.Len(t, s.trail(), before, name)
	}
}

// No GET changes anything: a link is enough to make one.
func TestNoChangeByGET(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	require.Equal(t, http.StatusNotFound, b.get(pause+"?csrf="+b.csrf()+"&reason=x").status)
	require.Equal(t, http.StatusNotFound, b.get("/dashboard/logout").status)
	require.False(t, s.paused())
}

func TestAViewerLooksAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.viewer)
	for _, path := range []string{"/dashboard/providers", "/dashboard/store", "/dashboard/audit"} {
		answer := b.get(path)
		require.Equal(t, http.StatusOK, answer.status, path)
		require.Equal(t, 1, strings.Count(answer.body, `method="post"`), "nothing but signing out")
	}
	answer := b.post(pause, url.Values{"csrf": {b.csrf()}, "reason": {"x"}})
	require.Equal(t, http.StatusForbidden, answer.status)
	require.Contains(t, answer.body, "role viewer")
	require.False(t, s.paused())
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	require.Contains(t, b.get("/dashboard/providers").body, `id="pause-inkjet"`)
	csrf := b.csrf()

	for reason, says := range map[string]string{"": "Say why", " ": "Say why", strings.Repeat("é", 501): "longer than 500"} {
		answer := b.post(pause, url.Values{"csrf": {csrf}, "reason": {reason}})
		require.Equal(t, http.StatusBadRequest, answer.status)
		require.Contains(t, answer.body, says)
		require.False(t, s.paused())
	}
	require.Equal(t, http.StatusNotFound, b.post("/dashboard/providers/nobody/pause", url.Values{"csrf": {csrf}, "reason": {"x"}}).status)

	require.Equal(t, http.StatusSeeOther, b.post(pause, url.Values{"csrf": {csrf}, "reason": {"<b>no paper</b>"}}).status)
	require.True(t, s.paused())
	page := b.get("/dashboard/providers").body
	require.Contains(t, page, "Provider inkjet is paused.")
	require.Contains(t, page, "by <strong>operator:operator-person</strong>: &lt;b&gt;no paper&lt;/b&gt;")
	require.NotContains(t, page, "<b>no paper")
	require.NotContains(t, b.get("/dashboard/providers").body, `id="said"`, "it is said once")
	entry := s.trail()[0]
	require.Equal(t, []string{"pause-provider", "inkjet", "<b>no paper</b>", "operator:operator-person", s.operatorKey.ID},
		[]string{entry.Action, entry.Target, entry.Reason, entry.Actor, entry.KeyID})
	require.Equal(t, audit.Done, entry.Outcome)

	require.NoError(t, s.rdb.Set(t.Context(), "asynq:{inkjet}:paused", time.Now().Add(-time.Hour).Unix(), 0).Err())
	require.Contains(t, b.get("/dashboard/providers").body, "not on this page", "that pause is another")
	require.Equal(t, http.StatusSeeOther, b.post(pause, url.Values{"csrf": {csrf}, "reason": {"again"}}).status, "twice is once")
	require.Equal(t, http.StatusSeeOther, b.post("/dashboard/providers/inkjet/resume", url.Values{"csrf": {csrf}, "reason": {"paper"}}).status)
	require.False(t, s.paused())
	require.Equal(t, "resume-provider", s.trail()[0].Action)
}

// Without an entry there is no change; and a login is a change.
func TestWithoutAnAuditEntryNothingIsChanged(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	csrf := b.csrf()
	require.NoError(t, s.rdb.Rename(t.Context(), "oj:audit", "elsewhere").Err())
	require.NoError(t, s.rdb.Set(t.Context(), "oj:audit", "not a stream", 0).Err())
	answer := b.post(pause, url.Values{"csrf": {csrf}, "reason": {"x"}})
	require.Equal(t, http.StatusServiceUnavailable, answer.status)
	require.Contains(t, answer.body, "nothing was changed")
	require.False(t, s.paused())
	visitor := s.browser()
	require.Equal(t, http.StatusServiceUnavailable, visitor.login(s.operator, "").status)
	require.NotContains(t, visitor.cookies, "oj_session")
	answer = b.send(http.MethodPost, "/monitor/api/queues/inkjet:pause", url.Values{})
	require.Contains(t, answer.body, "store-unavailable")
	require.False(t, s.paused())
}

func TestEveryPageHasThePolicy(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	inline := regexp.MustCompile(`(?i)<style|<script>|\sstyle=|\son[a-z]+=|javascript:|https?://`)
	for _, answer := range []reply{
		s.browser().get("/dashboard/login"), b.get("/dashboard/providers"), b.get("/dashboard/store"), b.get("/dashboard/audit"),
		b.get("/dashboard/nothing"),
	} {
		require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "+
			"form-action 'self'; frame-ancestors 'none'; base-uri 'none'", answer.header.Get("Content-Security-Policy"))
		require.Equal(t, "no-store", answer.header.Get("Cache-Control"))
		require.Equal(t, "same-origin", answer.header.Get("Referrer-Policy"), "under no-referrer forms come with Origin: null")
		require.Equal(t, "DENY", answer.header.Get("X-Frame-Options"))
		require.Empty(t, inline.FindString(answer.body), "the policy would not let it run, or load")
		require.Contains(t, answer.body, `<html lang="en">`)
		require.Contains(t, answer.body, `<main id="main"`)
		require.Equal(t, 1, strings.Count(answer.body, "<h1"))
	}
}

func TestStaticFilesAreKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	page := s.signedIn(s.operator).get("/dashboard/providers").body
	found := regexp.MustCompile(`/dashboard/static/[^"]+`).FindAllString(page, -1)
	require.GreaterOrEqual(t, len(found), 5)
	for _, path := range found {
		answer := s.browser().get(path)
		require.Equal(t, http.StatusOK, answer.status, path)
		require.Equal(t, "public, max-age=31536000, immutable", answer.header.Get("Cache-Control"))
		require.Regexp(t, "^(text/css|text/javascript|image/svg)", answer.header.Get("Content-Type"))
	}
	require.Equal(t, http.StatusNotFound, s.browser().get("/dashboard/static/app.css").status, "without its hash")
	require.Equal(t, http.StatusNotFound, s.browser().get("/dashboard/static/vendor/README.md").status)
}

// The vendored files are those the table names, unchanged.
func TestVendoredFiles(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("static/vendor/README.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` .* `([^`]+)` \\| `([0-9a-f]{64})` \\|$").FindAllStringSubmatch(string(table), -1)
	files, err := filepath.Glob("static/vendor/*.js")
	require.NoError(t, err)
	require.Len(t, rows, len(files))
	for _, row := range rows {
		content, err := os.ReadFile("static/vendor/" + row[1])
		require.NoError(t, err)
		sum := sha256.Sum256(content)
		require.Equal(t, row[3], hex.EncodeToString(sum[:]), row[1])
		require.FileExists(t, "static/vendor/"+row[2])
	}
}

func TestAnAddressThatIsNone(t *testing.T) {
	t.Parallel()
	s := open(t)
	answer := s.signedIn(s.operator).get("/dashboard/nothing")
	require.Equal(t, http.StatusNotFound, answer.status)
	require.Contains(t, answer.body, "There is no page at this address")
	require.Contains(t, answer.body, `id="nav"`, "he is signed in and keeps his navigation")
}

// The store is away: the page says so, in time.
func TestTheStoreIsAway(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	s.redis.SetError("LOADING Redis is loading the dataset in memory")
	for _, path := range []string{"/dashboard/providers", "/dashboard/store", "/dashboard/audit"} {
		answer := b.get(path)
		require.Equal(t, http.StatusServiceUnavailable, answer.status, path)
		require.Contains(t, answer.body, "The store is away")
		require.NotEmpty(t, answer.header.Get("Retry-After"))
		require.NotContains(t, answer.body, "LOADING")
	}
	s.redis.SetError("")
	require.Equal(t, http.StatusOK, b.get("/dashboard/providers").status)
}

func TestTheWayFromATaskToItsJob(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	const job = "job_01M8N9S2Z5V1Q6T8W3X4Y7ABCD05"
	for _, task := range []string{job + "-a1", job + "-a12-w3", job + "-retry-v7"} {
		answer := b.get("/dashboard/tasks/" + task)
		require.Equal(t, http.StatusSeeOther, answer.status, task)
		require.Equal(t, "/dashboard/jobs/"+job, answer.header.Get("Location"))
	}
	for _, task := range []string{job, job + "-b1", "x-a1", job + "-a1-w", job + "-a1%2F..%2Fx"} {
		require.Equal(t, http.StatusNotFound, b.get("/dashboard/tasks/"+task).status, task)
	}
}

func (s *site) process(p roster.Process) {
	s.t.Helper()
	p.Seen = time.Now()
	require.NoError(s.t, roster.Roster{Redis: s.rdb}.Write(s.t.Context(), p))
}

func worker(id string, p roster.Provider) roster.Process {
	p.Name = "inkjet"
	return roster.Process{ID: id, Kind: roster.KindWorker, Host: "host-" + id, PID: 7, Providers: []roster.Provider{p}, Sweeper: &roster.Sweeper{LastSweep: time.Now()}}
}

// What is worst of a provider comes first.
func TestTheHealthOfAProvider(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		workers []roster.Provider
		waits   time.Duration
		want    string
	}{
		"no worker":        {nil, 0, "no worker"},
		"healthy":          {[]roster.Provider{{Breaker: "closed", Calls: 5, Succeeded: 4, Failed: 1}}, 0, "healthy"},
		"no calls":         {[]roster.Provider{{Breaker: "off"}}, 0, "no calls"},
		"failing":          {[]roster.Provider{{Breaker: "off", Calls: 2, Failed: 2}}, 0, "failing"},
		"mostly":           {[]roster.Provider{{Breaker: "off", Calls: 3, Failed: 2, Succeeded: 1}}, 0, "mostly failing"},
		"unknown":          {[]roster.Provider{{Breaker: "off", Calls: 9, Unknown: 1, Succeeded: 8}}, 0, "outcomes unknown"},
		"all breakers":     {[]roster.Provider{{Breaker: "open"}, {Breaker: "open"}}, 0, "breaker open"},
		"one breaker":      {[]roster.Provider{{Breaker: "open"}, {Breaker: "closed", Calls: 1, Succeeded: 1}}, 0, "healthy"},
		"asked to wait":    {[]roster.Provider{{Breaker: "closed", Calls: 1, Succeeded: 1}}, time.Minute, "asked to wait"},
		"waited long ago":  {[]roster.Provider{{Breaker: "closed", Calls: 1, Succeeded: 1}}, -time.Minute, "healthy"},
		"worst of several": {[]roster.Provider{{Breaker: "off", Calls: 1, Succeeded: 1}, {Breaker: "off", Calls: 1, Unknown: 1}}, 0, "outcomes unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, func(c *dashboard.Config) {
				c.AskedToWait = func(context.Context, string) (time.Time, error) {
					if tt.waits == 0 {
						return time.Time{}, nil
					}
					return time.Now().Add(tt.waits), nil
				}
			})
			for i, p := range tt.workers {
				s.process(worker(string(rune('a'+i)), p))
			}
			page := s.signedIn(s.operator).get("/dashboard/providers").body
			_, card, found := strings.Cut(page, `id="provider-inkjet-name"`)
			require.True(t, found)
			badge := regexp.MustCompile(`<span class="badge [a-z]+">([^<]+)</span>`).FindStringSubmatch(card)
			require.Equal(t, tt.want, badge[1])
		})
	}
}

func TestCertificatesAreShown(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *dashboard.Config) {
		c.Certificates = func(context.Context) ([]dashboard.Certificate, error) {
			return []dashboard.Certificate{
				{
					Route: "print", Provider: "inkjet", State: "valid", ID: "cert_1", Expires: time.Now().Add(50 * time.Hour),
					Proofs: []dashboard.Proof{{Property: "schema", Proven: true, Evidence: "all <held>"}, {Property: "rendering", Exempt: true}},
				},
				{Route: "sum", Provider: "inkjet", State: "expired", Why: "it has expired", Hint: "onejob contract verify --route sum"},
				{Route: "elsewhere", Provider: "laser", State: "valid"},
			}, nil
		}
	})
	page := s.signedIn(s.viewer).get("/dashboard/providers").body
	for _, want := range []string{`<span class="badge good">valid</span>`, "in 2 days", "all &lt;held&gt;", "expired", "it has expired", "onejob contract verify --route sum"} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "elsewhere", "another provider's")
}

func TestTheStorePage(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.viewer)
	page := b.get("/dashboard/store").body
	require.Contains(t, page, `<span class="badge good">fsync</span>`)
	require.Contains(t, page, `<span class="badge bad">no sweeper</span>`)
	require.Equal(t, 64, strings.Count(page, `title="Partition `))
	s.process(worker("a", roster.Provider{}))
	require.Contains(t, b.get("/dashboard/store").body, `<span class="badge good">keeps up</span>`)

	late := time.Now().Add(-time.Hour).UnixMilli()
	require.NoError(t, s.rdb.ZAdd(t.Context(), "oj:{5}:due", redis.Z{Score: float64(late), Member: "wake:x"}).Err())
	require.NoError(t, s.rdb.Set(t.Context(), "oj:{5}:epoch", 2, 0).Err())
	page = b.get("/dashboard/store").body
	require.Contains(t, page, `<span class="badge bad">behind</span>`)
	require.Contains(t, page, "went back in time 2 times")
}

func TestTheAuditPage(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.signedIn(s.operator)
	for i := range 60 {
		e, err := s.audit.Record(t.Context(), audit.Entry{Actor: "ann", Action: "cancel-job", Target: "<i>" + string(rune('a'+i%2)), Reason: "<script>x</script>"})
		require.NoError(t, err)
		require.NoError(t, s.audit.Settle(t.Context(), e, audit.Refused, "because"))
	}
	page := b.get("/dashboard/audit").body
	require.NotContains(t, page, "<script>x")
	require.Contains(t, page, "&lt;script&gt;x")
	next := regexp.MustCompile(`href="(/dashboard/audit\?[^"]*after=[^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, next)
	second := b.get(strings.ReplaceAll(next[1], "&amp;", "&"))
	require.Equal(t, http.StatusOK, second.status)
	require.Contains(t, second.body, "operator:operator-person", "the login is the oldest")
	require.Equal(t, 30, strings.Count(b.get("/dashboard/audit?target=%3Ci%3Ea").body, "because"))
	require.Contains(t, b.get("/dashboard/audit?actor=nobody").body, "Nothing here matches")
	require.Equal(t, http.StatusBadRequest, b.get("/dashboard/audit?after=x").status)
}

// What goes wrong is in the log, and no page tells it.
func TestAnErrorIsNotShown(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *dashboard.Config) {
		c.Certificates = func(context.Context) ([]dashboard.Certificate, error) { return nil, errors.New("secret words") }
	})
	answer := s.signedIn(s.operator).get("/dashboard/providers")
	require.Equal(t, http.StatusServiceUnavailable, answer.status)
	require.NotContains(t, answer.body, "secret words")
}

func TestTheFrontLeadsToThePages(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]int{"text/html,*/*": http.StatusSeeOther, "*/*": 0, "": 0} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		err := dashboard.Front{}.Serve(w, r)
		if want == 0 {
			var refusal *dashboard.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, "not-found", refusal.ProblemName())
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, w.Code)
		require.Equal(t, "/dashboard", w.Header().Get("Location"))
	}
}

// Of two people who pause a provider, or resume it, at once, both are told that it is
// so: what asynq calls an error is that the other was faster.
func TestProviders_SomebodyWasFaster(t *testing.T) {
	t.Parallel()
	const key = "asynq:{inkjet}:paused"
	for path, faster := range map[string]struct {
		command string // what it begins with: SET with NX, or SETNX
		first   func(*site)
		other   func(*site)
	}{
		pause: {"SET", func(*site) {}, func(s *site) { require.NoError(s.t, s.redis.Set(key, "1")) }},
		"/dashboard/providers/inkjet/resume": {
			"DEL", func(s *site) { require.NoError(s.t, s.redis.Set(key, "1")) }, func(s *site) { s.redis.Del(key) },
		},
	} {
		s := open(t)
		faster.first(s)
		b := s.signedIn(s.operator)
		form := url.Values{"csrf": {b.csrf()}, "reason": {"paper"}}
		raced := false
		s.redis.Server().SetPreHook(func(_ *server.Peer, command string, args ...string) bool {
			if strings.HasPrefix(strings.ToUpper(command), faster.command) && len(args) > 0 && args[0] == key && !raced {
				raced = true
				faster.other(s)
			}
			return false
		})
		answer := b.post(path, form)
		require.True(t, raced, path)
		require.Equal(t, http.StatusSeeOther, answer.status, path)
	}
}
