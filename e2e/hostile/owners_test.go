package hostile

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pathParams are those whose meaning this test knows. A call with another one has to
// be taught here before it is released: whose is what it names?
var pathParams = map[string]string{
	"id": "a job", "n": "the number of a part of the job", "token": "the credential itself", "name": "public", "model": "a route, everybody's",
}

// Nobody learns whether another owner's job is there: every call of the description
// that names a job answers for another's what it answers for none, byte for byte but
// the request's own id, whatever the job's state is and whatever is asked of it. The
// same goes for the operators' pages, which no owner's key opens.
func TestAnotherOwnersJobIsNoJob(t *testing.T) {
	t.Parallel()
	s := startServer(t, keeping)
	theirs := s.jobsInEveryState()
	probes := 0
	for _, op := range operations(t) {
		for _, p := range op.params {
			require.True(t, p.In != "path" || pathParams[p.Name] != "", "what does {%s} of %s name?", p.Name, op.name)
		}
		if !strings.Contains(op.path, "{id}") {
			continue
		}
		for state, job := range theirs {
			for variant := range uint64(12) {
				theirs, none := s.probe(op, variant, job), s.probe(op, variant, damaged(job))
				require.Equal(t, none, theirs, "%s of a job that is %s", op.name, state)
				require.NotContains(t, theirs, "HTTP 2", "%s of a job that is %s", op.name, state)
				probes++
			}
		}
	}
	for _, address := range pages {
		if method, path, _ := strings.Cut(address, " "); strings.Contains(path, "{id}") || strings.Contains(path, "{task}") {
			fill := func(job string) string {
				return strings.NewReplacer("{id}", job, "{n}", "1", "{q}", "inkjet", "{list}", "pending", "{task}", job+"-a1").Replace(path)
			}
			for _, job := range theirs {
				none := damaged(job)
				require.Equal(t, s.ask(none, method, fill(none), ownKey, "", nil), s.ask(job, method, fill(job), ownKey, "", nil), address)
				probes++
			}
		}
	}
	t.Logf("%d pairs of requests", probes)
	for state, job := range theirs { // and nothing was done to them
		status, body := s.try(http.MethodGet, "/v1/jobs/"+job, otherKey, "")
		require.Equal(t, http.StatusOK, status, "%s", body)
		require.Contains(t, string(body), `"state":"`+state+`"`)
	}
}

// What lists show, and refuse, depends on the asker's own jobs alone.
func TestListsTellNothingOfAnotherOwner(t *testing.T) {
	t.Parallel()
	s := startServer(t, keeping)
	s.submit(otherKey, "their-key", `{"route":"print","input":1}`)
	for query, none := range map[string]string{
		"owner=other":               "owner=nobody",
		"idempotency_key=their-key": "idempotency_key=no-key",
		"route=print":               "route=no-route",
		"provider=inkjet":           "provider=nobody",
	} {
		require.Equal(t,
			s.ask(none, http.MethodGet, "/v1/jobs?"+none, ownKey, "", nil),
			s.ask(query, http.MethodGet, "/v1/jobs?"+query, ownKey, "", nil), query)
	}
	ours := s.submit(ownKey, "their-key", `{"route":"print","input":2}`)
	require.NotEmpty(t, ours, "a key is its owner's: another's is free")
}

// jobsInEveryState makes jobs of another owner's, by their states.
func (s *server) jobsInEveryState() map[string]string {
	s.t.Helper()
	const wait = "wait=20"
	jobs := map[string]string{
		"succeeded": s.submit(otherKey, "succeeded", `{"route":"print","input":1,"webhook_url":"http://127.0.0.1:1/"}`, "Prefer", wait),
		"failed":    s.submit(otherKey, "failed", `{"route":"chat","input":{"simulate":{"laser":{"outcome":"reject"}}}}`, "Prefer", wait),
		"unknown":   s.submit(otherKey, "unknown", `{"route":"chat","input":{"simulate":{"laser":{"outcome":"hang"}}}}`),
		"cancelled": s.submit(otherKey, "cancelled", `{"route":"chat","input":{"simulate":{"laser":{"outcome":"hang"}}}}`),
	}
	status, body := s.try(http.MethodPost, "/v1/jobs/"+jobs["cancelled"]+"/cancel", otherKey, `{"reason":"x"}`)
	require.Equal(s.t, http.StatusOK, status, "%s", body)
	s.eventually("the jobs are in their states", func() bool {
		return len(jobs) == countTrue(maps.All(jobs), func(state, job string) bool {
			_, body := s.try(http.MethodGet, "/v1/jobs/"+job, otherKey, "")
			return bytes.Contains(body, []byte(`"state":"`+state+`"`))
		})
	})
	return jobs
}

func countTrue[K, V any](all func(func(K, V) bool), is func(K, V) bool) (n int) {
	for k, v := range all {
		if is(k, v) {
			n++
		}
	}
	return n
}

// damaged is the id of a job that is not there, in the same partition.
func damaged(job string) string {
	last := len(job) - 3 // the last two characters are the partition's
	other := byte('0')
	if job[last] == other {
		other = '1'
	}
	return job[:last] + string(other) + job[last+1:]
}

// probe makes a call of the description about a job, the same way for the same
// variant, with everything it may carry.
func (s *server) probe(op *operation, variant uint64, job string) string {
	s.t.Helper()
	a := &author{rnd: rand.New(rand.NewPCG(7, variant)), known: newKnown(), addr: s.addr, keys: []string{ownKey}}
	a.known.add(kindJob, job)
	a.known.add(kindForeign, job)
	a.known.add(kindETag, `"v1.1"`)
	r := a.call(op)
	if r.get("Prefer") != "" {
		r.set("Prefer", "wait=1")
	}
	var headers []header
	for _, h := range r.headers {
		if h.name != "Host" && h.name != "Authorization" {
			headers = append(headers, h)
		}
	}
	return s.ask(job, r.method, r.target, ownKey, string(r.body), headers)
}

// ask makes a call and gives the whole answer, without what differs from one answer to
// the next anyway, and with the asked for name in words.
func (s *server) ask(name, method, target, key, body string, headers []header) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+target, strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("X-Request-Id", "probe")
	for _, h := range headers {
		request.Header.Set(h.name, h.value)
	}
	response, err := direct.Transport.RoundTrip(request) // redirects are answers
	require.NoError(s.t, err)
	text := read(s.t, response)
	response.Header.Del("Date")
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP %d\n", response.StatusCode)
	for _, field := range slices.Sorted(maps.Keys(response.Header)) {
		fmt.Fprintf(&out, "%s: %q\n", field, response.Header[field])
	}
	out.Write(text)
	return strings.ReplaceAll(out.String(), name, "NAME")
}
