package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

type jobPage struct {
	Data       []*jobs.Job `json:"data"`
	HasMore    bool        `json:"has_more"`
	NextCursor string      `json:"next_cursor"`
}

func (b *bundle) list(key, query string) jobPage {
	b.t.Helper()
	var page jobPage
	require.NoError(b.t, json.Unmarshal(b.get(key, "/v1/jobs"+query).is(http.StatusOK).body, &page))
	return page
}

func keysOf(page jobPage) []string {
	keys := []string{}
	for _, job := range page.Data {
		keys = append(keys, job.IdempotencyKey)
	}
	return keys
}

func TestListJobs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Contains(t, string(b.get(devKey, "/v1/jobs").body), `"data":[]`)

	var all []string
	for i := range 5 {
		key := fmt.Sprint("k", i)
		b.made(key)
		all = append([]string{key}, all...)
		b.nextMillisecond()
	}
	require.Equal(t, all, keysOf(b.list(devKey, "")), "newest first")

	first := b.list(devKey, "?limit=2")
	require.True(t, first.HasMore)
	second := b.list(devKey, "?limit=2&after="+url.QueryEscape(first.NextCursor))
	third := b.list(devKey, "?limit=2&after="+url.QueryEscape(second.NextCursor))
	require.False(t, third.HasMore)
	require.Empty(t, third.NextCursor)
	require.Equal(t, all, append(append(keysOf(first), keysOf(second)...), keysOf(third)...))
}

func TestListJobsFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.finalize(b.claim(b.made("done"), 1), `{}`)
	b.made("waits")
	b.submit("scan", `{"route":"scan","input":1}`).is(http.StatusAccepted)
	b.post(otherKey, "/v1/jobs", printBody, "Idempotency-Key", "theirs").is(http.StatusAccepted)

	require.ElementsMatch(t, []string{"done"}, keysOf(b.list(devKey, "?state=succeeded")))
	require.ElementsMatch(t, []string{"scan"}, keysOf(b.list(devKey, "?route=scan")))
	require.ElementsMatch(t, []string{"waits"}, keysOf(b.list(devKey, "?idempotency_key=waits")))
	require.ElementsMatch(t, []string{"waits"}, keysOf(b.list(devKey, "?idempotency_key=%22waits%22")))
	require.Empty(t, keysOf(b.list(devKey, "?idempotency_key=theirs")))
	require.ElementsMatch(t, []string{"waits", "scan"}, keysOf(b.list(devKey, "?state=queued&owner=dev")))

	require.Len(t, b.list(viewerKey, "").Data, 4)
	require.ElementsMatch(t, []string{"theirs"}, keysOf(b.list(operatorKey, "?owner=other")))
	require.ElementsMatch(t, []string{"theirs"}, keysOf(b.list(operatorKey, "?idempotency_key=theirs")))
	require.Equal(t, "owner", b.get(devKey, "/v1/jobs?owner=other").problem(http.StatusForbidden, "forbidden").Field)
}

func TestListJobsByProviderAndTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.made("first")
	b.nextMillisecond()
	second := b.made("second")
	b.nextMillisecond()
	third := b.made("third")
	at := func(job *jobs.Job) string {
		return url.QueryEscape(job.CreatedAt.Go().Format(time.RFC3339Nano))
	}
	require.Equal(t, []string{"third", "second"}, keysOf(b.list(devKey, "?since="+at(second))))
	require.Equal(t, []string{"second", "first"}, keysOf(b.list(devKey, "?until="+at(third))))
	require.Equal(t, []string{"second"}, keysOf(b.list(devKey, "?since="+at(second)+"&until="+at(third))))
	require.Empty(t, keysOf(b.list(devKey, "?since="+at(second)+"&until="+at(first))))
	page := b.list(devKey, "?limit=1&until="+at(third))
	require.Equal(t, []string{"second"}, keysOf(page))
	require.Equal(t, []string{"first"}, keysOf(b.list(devKey, "?limit=1&until="+at(third)+"&after="+page.NextCursor)))

	require.Equal(t, []string{"third", "second", "first"}, keysOf(b.list(devKey, "?provider=inkjet")))
	require.Empty(t, keysOf(b.list(devKey, "?provider=laser")))
}

func TestListJobsRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for query, field := range map[string]string{
		"?status=failed": "status", "?state=done": "state", "?limit=0": "limit", "?limit=101": "limit", "?limit=x": "limit",
		"?limit=1&limit=2": "limit", "?after=nonsense": "after", "?idempotency_key=a%20b": "idempotency_key", "?state=": "state",
		"?state=failed;limit=1": "", "?route=%zz": "",
		"?since=yesterday": "since", "?until=2026-01-31": "until", "?since=": "since",
	} {
		p := b.get(devKey, "/v1/jobs"+query).problem(http.StatusBadRequest, "request-invalid")
		require.Equal(t, field, p.Field, query)
	}
	p := b.get(devKey, "/v1/jobs?status=failed").problem(http.StatusBadRequest, "request-invalid")
	require.Equal(t, []string{"state", "route", "provider", "idempotency_key", "owner", "since", "until", "limit", "after"}, p.Allowed)
	require.Contains(t, b.get(devKey, "/v1/jobs?state=done").problem(http.StatusBadRequest, "request-invalid").Allowed, "unknown")
}
