package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShowJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	answer := b.get(devKey, "/v1/jobs/"+job.ID).is(http.StatusOK)
	require.Equal(t, job, answer.job())
	require.Equal(t, `"v1.1"`, answer.header.Get("ETag"))
	require.Equal(t, "no-store", answer.header.Get("Cache-Control"))

	claim := b.claim(job, 1)
	claimed := b.get(devKey, "/v1/jobs/"+job.ID).header.Get("ETag")
	require.NotEqual(t, `"v1.1"`, claimed, "every write raises the revision")
	require.True(t, strings.HasPrefix(claimed, `"v1.`), claimed)
	b.finalize(claim, `{}`)
	require.True(t, strings.HasPrefix(b.get(devKey, "/v1/jobs/"+job.ID).header.Get("ETag"), `"v2.`))
}

func TestShowJobNotModified(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/jobs/" + b.made("k1").ID
	for _, tag := range []string{`"v1.1"`, `W/"v1.1"`, `"v1.0", "v1.1"`, `*`} {
		answer := b.get(devKey, path, "If-None-Match", tag).is(http.StatusNotModified)
		require.Equal(t, `"v1.1"`, answer.header.Get("ETag"))
		require.Empty(t, answer.body)
	}
	b.get(devKey, path, "If-None-Match", `"v1.2"`).is(http.StatusOK)
}

// Nobody learns whether a job of somebody else's is there.
func TestShowJobOfSomebodyElse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	missing := "/v1/jobs/" + strings.Map(func(r rune) rune {
		if r == '0' {
			return '1'
		}
		return r
	}, job.ID)
	for _, path := range []string{"", "/events"} {
		theirs := b.get(otherKey, "/v1/jobs/"+job.ID+path, "X-Request-Id", "r")
		none := b.get(otherKey, missing+path, "X-Request-Id", "r")
		theirs.problem(http.StatusNotFound, "not-found")
		require.Equal(t, string(none.body), string(theirs.body))
		theirs.header.Del("Date")
		none.header.Del("Date")
		require.Equal(t, none.header, theirs.header)
	}
	for _, call := range []string{"/cancel", "/attempts", "/attempts/1/cancel"} {
		theirs := b.post(otherKey, "/v1/jobs/"+job.ID+call, `{"reason":"x"}`, "X-Request-Id", "r")
		theirs.problem(http.StatusNotFound, "not-found")
		require.Equal(t, string(b.post(otherKey, missing+call, `{"reason":"x"}`, "X-Request-Id", "r").body), string(theirs.body))
	}
	for _, key := range []string{viewerKey, operatorKey} {
		require.Equal(t, "dev", b.get(key, "/v1/jobs/"+job.ID).is(http.StatusOK).job().Owner)
	}
}

func TestShowJobWithAnIDThatIsNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.redis.SetError("must not be asked")
	for _, id := range []string{"nope", "job_%7B1%7D", "job_..%2F..", strings.Repeat("j", 65), "job_%00", "%20", "%ff"} {
		b.get(devKey, "/v1/jobs/"+id).problem(http.StatusNotFound, "not-found")
	}
}
