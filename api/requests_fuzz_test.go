package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"onejob/auth"
)

// mustTell fails unless p can be told to a caller.
func mustTell(t *testing.T, p *Problem) {
	t.Helper()
	if p.kind.Status < 400 || p.kind.Status >= 500 {
		t.Fatalf("status %d for a caller's own mistake", p.kind.Status)
	}
	w := httptest.NewRecorder()
	p.prepare(w.Header(), "", "req_1")
	if err := p.write(w); err != nil || !json.Valid(w.Body.Bytes()) {
		t.Fatalf("a problem that is not JSON: %q, %v", w.Body, err)
	}
}

// FuzzSubmitBody: any bytes are an intent or a problem, and an intent is the same one
// whenever it is read.
func FuzzSubmitBody(f *testing.F) {
	for _, seed := range []string{
		`{"route":"print","input":1}`, `{"route":"print","input":null,"provider":"inkjet","params":{"temperature":0},"metadata":{"a":"b"}}`,
		`{"route":"print","input":1,"webhook_url":"https://r.example/","start_within":"90s"}`, `{"route":"","input":1}`, `{"input":1}`, `{"route":7}`,
		`{"route":"a","input":1,"start_within":"9999999h"}`, `{"route":"a","input":1,"webhook_url":"\u0000"}`, `{"route":"a","route":"b"}`, `[]`, ``,
		`{"route":"a","input":1,"metadata":{"x":{}}}`, `{"route":"a","input":1,"params":[]}`, `{"ROUTE":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	routes := map[string]Route{"print": {Providers: []string{"inkjet", "laser"}, Params: []string{"temperature"}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, p := parseSubmit(body)
		if p != nil {
			mustTell(t, p)
			return
		}
		if again, p := parseSubmit(body); p != nil || again.Fingerprint != r.Fingerprint {
			t.Fatalf("%q is two intents", body)
		}
		if !json.Valid(r.Input) || r.Route == "" || r.StartWithin < 0 {
			t.Fatalf("%q was taken", body)
		}
		if p := r.checkRoute(routes); p != nil {
			mustTell(t, p)
		}
	})
}

// FuzzIdempotencyKey: a key that is taken is 1 to 255 visible characters of ASCII, and
// the same one as a quoted string.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"k1", `"k1"`, `"a\"b"`, `"a\\b"`, `"k1";p=1`, `"a", "b"`, "a,b", "", `"`, "é", "\x00", strings.Repeat("k", 256), `"\x"`, ` "k1" `} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, p := parseKey(value)
		if p != nil {
			mustTell(t, p)
			return
		}
		for i := range len(key) {
			if key[i] <= ' ' || key[i] > '~' {
				t.Fatalf("%q is no key: byte %d", key, i)
			}
		}
		if key == "" || len(key) > 255 {
			t.Fatalf("a key of %d characters", len(key))
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, p := parseKey(quoted); p != nil || again != key {
			t.Fatalf("%s is not the key %q", quoted, key)
		}
	})
}

// FuzzHeaders: conditions, preferences and what is accepted, as any client may write
// them.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{`"v1.1"`, `W/"v1"`, "*", `wait=1`, `wait="1";x=",", y`, "wait=99999999999999999999", "text/event-stream;q=0", `"a\`, ",;=", "Bearer x", "multipart/form-data"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		h := http.Header{}
		for _, name := range []string{"If-Match", "Prefer", "Accept", "Content-Type", "Content-Encoding", headerRequestID} {
			h.Set(name, value)
		}
		if version, p := expectedVersion(h); p != nil {
			mustTell(t, p)
		} else if version < 0 {
			t.Fatalf("version %d", version)
		}
		if wait, _ := preferredWait(h); wait < 0 || wait > maxWait {
			t.Fatalf("a wait of %s", wait)
		}
		if p := checkMediaType(h); p != nil {
			mustTell(t, p)
		}
		if id := requestID(h); id == "" || len(id) > 128 || strings.ContainsAny(id, "\r\n\x00 ") {
			t.Fatalf("the request id %q", id)
		}
		_ = wantsStream(h)
	})
}

// FuzzListQuery: any query is one for the store or a problem, and never one for
// another owner's jobs.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{"", "state=running&limit=5", "owner=other", "since=2026-01-31T09:00:00Z", "until=9999-12-31T23:59:59Z", "idempotency_key=%22k%22", "limit=%201", "a;b", "%zz", "limit=1&limit=2", "after=x"} {
		f.Add(seed)
	}
	who := auth.Identity{Owner: "me", Role: auth.Submit}
	f.Fuzz(func(t *testing.T, query string) {
		params, p := queryOf(&http.Request{URL: &url.URL{RawQuery: query}}, listParams)
		if p != nil {
			mustTell(t, p)
			return
		}
		q, p := jobQuery(params, who)
		if p != nil {
			mustTell(t, p)
			return
		}
		if q.Owner != "me" || q.Limit < 1 || q.Limit > maxJobs || q.Since < 0 || q.Until < 0 {
			t.Fatalf("%q asks for %+v", query, q)
		}
	})
}
