package hostile

import (
	"strings"
)

// targetMutations make another address, or none, of the target; or another method.
var targetMutations = []mutation{
	{"method", func(a *author, r *request) {
		r.method = pick(a.rnd, []string{"GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST", "PROPFIND", "QUERY", "get", strings.Repeat("M", 3000)})
		r.strayed = true
	}},
	{"method that is none", func(a *author, r *request) {
		r.method = pick(a.rnd, []string{"", "G T", "G(T", "\x00", "\xff", "CONNECT", "PRI"})
		stray(r)
	}},
	{"path", func(a *author, r *request) {
		path, query, _ := strings.Cut(r.target, "?")
		at := a.rnd.IntN(len(path) + 1)
		r.target = path[:at] + pick(a.rnd, []string{
			"/", "//", "/./", "/../", "%2e%2e%2f", "%2F", "%00", "%ff", "%c0%af", ";a=b", ":", "*", "%25", "%20", "+", "{id}", ":id", strings.Repeat("a", 300), "é", "%F0%9F%96%A8",
		}) + path[at:]
		if query != "" {
			r.target += "?" + query
		}
		r.strayed, r.protocol = true, true
	}},
	{"bad escape", func(a *author, r *request) {
		r.target += pick(a.rnd, []string{"%", "%z", "%zz", "%1", "\x00", "\x7f", " ", "\xff", "#x"})
		stray(r)
	}},
	{"long id", func(a *author, r *request) {
		r.target = strings.Replace(r.target, "job_", "job_"+strings.Repeat("0", pick(a.rnd, []int{1, 300, 5000, 50_000})), 1)
	}},
	{"damaged id", func(a *author, r *request) {
		r.target = strings.Replace(r.target, "job_", pick(a.rnd, []string{"", "JOB_", "job-", "job_%7B", "job_*", "job_%0a", "job_%00", "job_%E2%82%AC", "job_{0}"}), 1)
		r.strayed = true
	}},
	{"number", func(a *author, r *request) {
		bad := pick(a.rnd, []string{"0", "-1", "1e3", "99999999999999999999", "01", "+1", "x", "%31", "1.0", "%E0%A5%A7", "2147483648"})
		for _, part := range []string{"/attempts/", "/webhooks/"} {
			if before, after, ok := strings.Cut(r.target, part); ok {
				_, rest, _ := strings.Cut(after, "/")
				r.target = before + part + bad + "/" + rest
			}
		}
	}},
	{"query", func(a *author, r *request) {
		sign := "?"
		if strings.Contains(r.target, "?") {
			sign = "&"
		}
		r.target += sign + pick(a.rnd, []string{
			"limit=0", "limit=-1", "limit=1e3", "limit=99999999999999999999", "limit=1&limit=2", "limit=%00", "limit=", "after=x", "after=%ff", "after=-1", "after=" + strings.Repeat("A", 9000),
			"state=no", "state=", "unknown=1", "=", "&&&", "a;b", "%zz", "%", "owner=other", "owner=%2A", "owner=" + strings.Repeat("o", 200), "since=yesterday", "until=9999-99-99T00:00:00Z",
			"since=0000-01-01T00:00:00Z", "until=9999-12-31T23:59:59Z", "idempotency_key=%22", "idempotency_key=" + strings.Repeat("k", 300), "route=%00", "provider=*", "size=-1", "page=-1", "page=99999999999999999999&size=99999999999",
			"next=//evil.example", "next=%0d%0aX:1", "q=" + strings.Repeat("%F0%9F%96%A8", 200),
		})
	}},
	{"damaged cursor", func(a *author, r *request) {
		cursor := []byte(a.known.one(a.rnd, kindCursor))
		for range 1 + a.rnd.IntN(3) {
			cursor[a.rnd.IntN(len(cursor))] = "abcXYZ019-_~."[a.rnd.IntN(13)]
		}
		path, _, _ := strings.Cut(r.target, "?")
		r.target = path + "?after=" + string(cursor)
	}},
	{"long target", func(a *author, r *request) {
		r.target += "?" + strings.Repeat("a=b&", pick(a.rnd, []int{500, 10_000, 20_000}))
		r.protocol, r.fresh = true, true
	}},
	{"form of the target", func(a *author, r *request) {
		r.target = pick(a.rnd, []string{
			"http://evil.example" + r.target, "http://" + a.addr + r.target, "*", "evil.example:443", "", "//" + a.addr + r.target, "http:" + r.target, "://", strings.TrimPrefix(r.target, "/"), "file:///etc/passwd", "?" + r.target, "/" + strings.ToUpper(r.target),
		})
		stray(r)
	}},
	{"another's address", func(a *author, r *request) {
		r.target = pick(a.rnd, []string{"/", "/v1", "/v1/", "/v1/jobs/", "/openai", "/openai/v1", "/openai/v1/embeddings", "/debug/pprof/", "/livez", "/favicon.ico", "/robots.txt", "/.git/config", "/healthz/", "/metrics/x"})
		r.strayed = true
	}},
}

// stray says that the request may be another call, or none.
func stray(r *request) { r.strayed, r.protocol, r.fresh = true, true, true }
