package hostile

import (
	"strings"
)

// headerMutations send headers nobody should, or too many.
var headerMutations = []mutation{
	{"no credentials", func(_ *author, r *request) { r.drop("Authorization") }},
	{"bad credentials", func(a *author, r *request) {
		r.set("Authorization", pick(a.rnd, []string{
			"", "Bearer", "Bearer ", "bearer\tdev-key", "Basic ZGV2LWtleTo=", "Basic !!!", "Basic OmRldi1vcGVyYXRvci1rZXk=", "Bearer " + strings.Repeat("x", 5000),
			"Bearer dev-key, Bearer other-key", "Bearer oj_" + strings.Repeat("0", 60), "Bearer \xff", "Digest x", "Bearer DEV-KEY",
		}))
	}},
	{"credentials twice", func(_ *author, r *request) { r.add("Authorization", "Bearer other-key") }},
	{"media type", func(a *author, r *request) {
		r.set("Content-Type", pick(a.rnd, []string{
			"", "text/plain", "application/json; charset=utf-16", "application/json;;;", "application/problem+json", "multipart/form-data; boundary=x",
			"multipart/form-data", "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=\xff", "a/b/c", ";", "application/JSON", strings.Repeat("a", 2000),
		}))
	}},
	{"media type twice", func(_ *author, r *request) { r.add("Content-Type", "text/plain") }},
	{"no media type", func(_ *author, r *request) { r.drop("Content-Type") }},
	{"content coding", func(a *author, r *request) {
		r.set("Content-Encoding", pick(a.rnd, []string{"gzip", "br", "identity", "identity, gzip", "x"}))
	}},
	{"key", func(a *author, r *request) {
		r.set("Idempotency-Key", pick(a.rnd, []string{
			"", " ", `"`, `""`, `"a`, `"a";p=1`, `a,b`, `a;b`, `a\b`, `"\x"`, "é", "\xff", strings.Repeat("k", 255), strings.Repeat("k", 256), strings.Repeat("k", 9000), `"k1"`, "k 1",
		}))
	}},
	{"key twice", func(_ *author, r *request) { r.add("Idempotency-Key", "second") }},
	{"no key", func(_ *author, r *request) { r.drop("Idempotency-Key") }},
	{"condition", func(a *author, r *request) {
		r.set(pick(a.rnd, []string{"If-Match", "If-None-Match"}), pick(a.rnd, []string{
			"*", `"v1"`, `"v1.1"`, `W/"v1.1"`, `"v1.1", "v2.2"`, `"v-1.0"`, `"v99999999999999999999.1"`, `v1.1`, `"`, "\xff", strings.Repeat(`"v1.1",`, 3000),
		}))
	}},
	{"preference", func(a *author, r *request) {
		r.waits = true
		r.set("Prefer", pick(a.rnd, []string{"wait=1", "wait=1e9", "wait=-1", "wait=", "wait=0x1", "wait=\"1\"", "wait=1;x", ",,,", "\xff", strings.Repeat("wait=1,", 2000), "WAIT=1"}))
	}},
	{"place in a stream", func(a *author, r *request) {
		r.set("Last-Event-ID", pick(a.rnd, []string{"", "0", "-1", "1-1", "99999999999999999999", "x", "\xff", strings.Repeat("1", 5000), "1.5", "0x1", " 1"}))
	}},
	{"what is accepted", func(a *author, r *request) {
		r.set("Accept", pick(a.rnd, []string{"text/event-stream", "text/html", "", "*/*;q=x", ",", "application/xml", strings.Repeat("a/b,", 4000), "text/event-stream;q=0"}))
	}},
	{"range", func(a *author, r *request) {
		r.set("Range", pick(a.rnd, []string{"bytes=0-0", "bytes=-1", "bytes=0-,0-,0-,0-", "bytes=9999999999999999999-", "x"}))
	}},
	{"another method said", func(a *author, r *request) {
		r.set(pick(a.rnd, []string{"X-HTTP-Method-Override", "X-Method", "X-HTTP-Method"}), "DELETE")
	}},
	{"another address said", func(a *author, r *request) {
		r.set(pick(a.rnd, []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Original-URL", "X-Rewrite-URL", "Forwarded"}),
			pick(a.rnd, []string{"127.0.0.1", "/dashboard", "https", "evil.example", "for=\"[::1\"", "\xff"}))
	}},
	{"origin", func(a *author, r *request) {
		r.set(pick(a.rnd, []string{"Origin", "Sec-Fetch-Site", "Referer"}), pick(a.rnd, []string{"null", "https://evil.example", "cross-site", "same-origin", "http://[::1", "\xff", ""}))
	}},
	{"cookie", func(a *author, r *request) {
		r.set("Cookie", pick(a.rnd, []string{"oj_session=", "oj_session=x", "oj_session=\"", "=;=;=", strings.Repeat("a=b; ", 3000), "oj_session=" + strings.Repeat("A", 4000), "\xff=\xff"}))
	}},
	{"trace", func(a *author, r *request) {
		r.set(pick(a.rnd, []string{"traceparent", "tracestate", "baggage"}), pick(a.rnd, []string{
			"00-00000000000000000000000000000000-0000000000000000-00", "00-zz", "ff-" + strings.Repeat("1", 3000), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b,a=b", "\xff",
		}))
	}},
	{"request id", func(a *author, r *request) {
		r.set("X-Request-Id", pick(a.rnd, []string{"", "x y", "é", strings.Repeat("r", 129), strings.Repeat("r", 10000), "\t"}))
	}},
	{"upgrade", func(a *author, r *request) {
		r.set("Connection", "Upgrade")
		r.set("Upgrade", pick(a.rnd, []string{"websocket", "h2c", "TLS/1.0", "x"}))
		r.fresh = true
	}},
	{"expectation", func(a *author, r *request) {
		r.set("Expect", pick(a.rnd, []string{"100-continue", "100-continue", "200-ok", "x"}))
		r.protocol = true
	}},
	{"many headers", func(a *author, r *request) {
		for i := range 50 + a.rnd.IntN(300) {
			r.add("X-H"+itoa(i), "v")
		}
		r.protocol = true
	}},
	{"large header", func(a *author, r *request) {
		r.set("X-Large", strings.Repeat("h", pick(a.rnd, []int{4000, 30_000, 63_000, 70_000, 200_000})))
		r.protocol, r.fresh = true, true
	}},
	{"header that is none", func(a *author, r *request) {
		h := pick(a.rnd, []header{
			{"X-A\r\n X-Folded", "1"}, {"X A", "1"}, {"", "1"}, {"X-\x00", "1"}, {"X-B", "a\x00b"}, {"X-C", "a\rb"}, {"X-D\n", "1"}, {"\xff", "1"}, {"X-E", "a\x7fb"}, {"no colon\r\nX-F", "1"},
		})
		r.add(h.name, h.value)
		r.protocol, r.fresh = true, true
	}},
	{"host", func(a *author, r *request) {
		if a.chance(50) {
			r.drop("Host")
		}
		if a.chance(60) {
			r.add("Host", pick(a.rnd, []string{"", "evil.example", "a b", "\xff", "[::1", "x:99999999", "a/b", strings.Repeat("h", 3000)}))
		}
		r.protocol, r.fresh = true, true
	}},
}
