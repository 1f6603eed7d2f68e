package hostile

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
)

// session is somebody signed in at the operators' pages.
type session struct{ cookie, csrf string }

// pages are the addresses outside the description: the operators' pages, and what
// asynqmon serves below /monitor. {id}, {n}, {q}, {task} and {name} are filled in.
var pages = []string{
	"GET /", "GET /dashboard", "GET /dashboard/", "GET /dashboard/login", "POST /dashboard/login", "GET /dashboard/stream", "GET /dashboard/static/{name}",
	"GET /dashboard/unknown", "GET /dashboard/jobs", "POST /dashboard/jobs/bulk", "GET /dashboard/jobs/{id}", "GET /dashboard/jobs/{id}/decide", "POST /dashboard/jobs/{id}/decide",
	"POST /dashboard/jobs/{id}/webhooks/{n}/redeliver", "GET /dashboard/providers", "POST /dashboard/providers/{q}/pause", "POST /dashboard/providers/{q}/resume",
	"GET /dashboard/store", "GET /dashboard/audit", "GET /dashboard/tasks/{task}", "GET /dashboard/{name}",
	"GET /monitor", "GET /monitor/", "GET /monitor/{name}", "GET /monitor/api/queues", "GET /monitor/api/queues/{q}", "POST /monitor/api/queues/{q}:pause", "POST /monitor/api/queues/{q}:resume",
	"DELETE /monitor/api/queues/{name}", "GET /monitor/api/queue_stats", "GET /monitor/api/queues/{q}/{list}_tasks", "GET /monitor/api/queues/{q}/tasks/{task}",
	"POST /monitor/api/queues/{q}/active_tasks/{task}:cancel", "POST /monitor/api/queues/{q}/active_tasks:cancel_all", "POST /monitor/api/queues/{q}/active_tasks:batch_cancel",
	"DELETE /monitor/api/queues/{q}/{list}_tasks/{task}", "POST /monitor/api/queues/{q}/{list}_tasks/{task}:run", "POST /monitor/api/queues/{q}/{list}_tasks/{task}:archive",
	"POST /monitor/api/queues/{q}/{list}_tasks:batch_run", "POST /monitor/api/queues/{q}/{list}_tasks:batch_delete", "POST /monitor/api/queues/{q}/{list}_tasks:run_all",
	"GET /monitor/api/queues/{q}/groups", "GET /monitor/api/queues/{q}/groups/{name}/aggregating_tasks", "POST /monitor/api/queues/{q}/groups/{name}/aggregating_tasks:run_all",
	"GET /monitor/api/servers", "GET /monitor/api/scheduler_entries", "GET /monitor/api/scheduler_entries/{name}/enqueue_events", "GET /monitor/api/redis_info", "GET /monitor/api/metrics",
}

// page writes a good request of a page.
func (a *author) page() *request {
	method, path, _ := strings.Cut(pick(a.rnd, pages), " ")
	path = strings.NewReplacer(
		"{id}", a.known.one(a.rnd, kindJob),
		"{n}", pick(a.rnd, []string{"1", "2", "x"}),
		"{q}", pick(a.rnd, []string{"inkjet", "laser", "press", "operator", "webhooks", "no-such"}),
		"{task}", a.known.one(a.rnd, kindJob)+pick(a.rnd, []string{"-a1", "-a2", "-retry-v1", ""}),
		"{list}", pick(a.rnd, []string{"active", "pending", "scheduled", "retry", "archived", "completed"}),
		"{name}", pick(a.rnd, []string{"x", "app.css", "%00", "..%2f..%2fetc", "🖨", "a%20b"}),
	).Replace(path)
	r := a.blank(method, path)
	s := pick(a.rnd, a.sessions)
	if a.chance(85) {
		r.set("Cookie", s.cookie)
	} else {
		r.set("Authorization", "Bearer "+operatorKey)
	}
	r.set("Accept", pick(a.rnd, []string{"text/html", "text/html", "application/json", "text/event-stream"}))
	if method != http.MethodGet {
		r.set("Sec-Fetch-Site", "same-origin")
		a.form(r, s)
	}
	return r
}

// form fills in what the pages' forms have.
func (a *author) form(r *request, s session) {
	if strings.HasPrefix(r.target, "/monitor") {
		r.give([]byte(pick(a.rnd, []string{`{"task_ids":["x"]}`, `{"task_ids":[]}`, `{"task_ids":7}`, `{}`, ``, `{"task_ids":["` + a.known.one(a.rnd, kindJob) + `-a1"]}`})))
		r.set("Content-Type", "application/json")
		return
	}
	job := a.known.one(a.rnd, kindJob)
	form := url.Values{
		"csrf": {s.csrf}, "reason": {pick(a.rnd, []string{"why not", "", strings.Repeat("é", 501)})},
		"do":      {pick(a.rnd, []string{"retry", "cancel-job", "retry-all", "cancel-attempt", "resolve-succeeded", "resolve-failed", "resolve-cancelled", "x"})},
		"action":  {pick(a.rnd, []string{"retry", "cancel-job", "cancel-attempt", "resolve", "succeeded", "x"})},
		"step":    {pick(a.rnd, []string{"confirm", "preview", ""})},
		"id":      {job, a.known.one(a.rnd, kindJob), "x"},
		"job":     {job + " 1 x", "x", job + " -1"},
		"attempt": {pick(a.rnd, []string{"1", "0", "x", "99999999999"})}, "version": {pick(a.rnd, []string{"1", "2", "x", "-1"})},
		"result": {pick(a.rnd, []string{"1", "{", `{"a":1}`})}, "op": {pick(a.rnd, []string{"", "x", strings.Repeat("o", 500)})},
		"key": {pick(a.rnd, []string{"dev-key", "wrong", ""})}, "next": {pick(a.rnd, []string{"/dashboard/jobs", "//evil.example", "\r\nX: 1"})}, "proof": {"x"},
		"state": {pick(a.rnd, []string{"failed", "no"})}, "seen": {pick(a.rnd, []string{"", "x"})}, "then": {pick(a.rnd, []string{"", "continue", "x"})},
	}
	r.give([]byte(form.Encode()))
	r.set("Content-Type", "application/x-www-form-urlencoded")
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// signIn begins a session.
func (s *server) signIn(key string) session {
	s.t.Helper()
	var cookie string
	send := func(method, path string, form url.Values) *http.Response {
		request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+path, strings.NewReader(form.Encode()))
		require.NoError(s.t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Accept", "text/html")
		request.Header.Set("Cookie", cookie)
		response, err := direct.Transport.RoundTrip(request)
		require.NoError(s.t, err)
		for _, c := range response.Cookies() {
			if c.Value != "" {
				cookie = c.Name + "=" + c.Value
			}
		}
		return response
	}
	body := func(r *http.Response) string { a := read(s.t, r); return string(a) }
	page := body(send(http.MethodGet, "/dashboard/login", nil))
	proof := regexp.MustCompile(`name="proof" value="([^"]+)"`).FindStringSubmatch(page)
	require.NotNil(s.t, proof, page)
	response := send(http.MethodPost, "/dashboard/login", url.Values{"proof": {proof[1]}, "key": {key}})
	require.Equal(s.t, http.StatusSeeOther, response.StatusCode, body(response))
	_ = response.Body.Close()
	page = body(send(http.MethodGet, "/dashboard/providers", nil))
	csrf := csrfField.FindStringSubmatch(page)
	require.NotNil(s.t, csrf, page)
	return session{cookie, csrf[1]}
}

// resumeAll ends what pauses the run has begun.
func (s *server) resumeAll(operator session) {
	s.t.Helper()
	for _, name := range []string{"inkjet", "laser", "press"} {
		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.addr+"/monitor/api/queues/"+name+":resume", nil)
		require.NoError(s.t, err)
		request.Header.Set("Cookie", operator.cookie)
		request.Header.Set("Sec-Fetch-Site", "same-origin")
		response, err := direct.Do(request)
		require.NoError(s.t, err)
		_ = response.Body.Close()
	}
}
