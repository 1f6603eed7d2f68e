package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/jobs"
)

func TestSubmit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	answer := b.submit("k1", `{"route":"print","input":{"text":"<ü> 😂","n":9007199254740993},
		"provider":"laser","params":{"temperature":0.5},"metadata":{"case":"42"},"start_within":"1h"}`).is(http.StatusAccepted)
	job := answer.job()
	require.Equal(t, "/v1/jobs/"+job.ID, answer.header.Get("Location"))
	require.Equal(t, "1", answer.header.Get("Retry-After"))
	require.Equal(t, `"v1.1"`, answer.header.Get("ETag"))
	require.Empty(t, answer.header.Get("Idempotent-Replayed"))
	require.Equal(t, "application/json", answer.header.Get("Content-Type"))
	require.Equal(t, jobs.Queued, job.State)
	require.Equal(t, "dev", job.Owner)
	require.Equal(t, "k1", job.IdempotencyKey)
	require.Equal(t, "laser", job.Provider)
	require.Equal(t, `{"text":"<ü> 😂","n":9007199254740993}`, string(job.Input), "as it was sent")
	require.JSONEq(t, `{"temperature":0.5}`, string(job.Params))
	require.JSONEq(t, `{"case":"42"}`, string(job.Metadata))
	require.Equal(t, int64(3600_000), int64(job.StartBy-job.CreatedAt))

	wake := b.woken()
	require.Equal(t, jobs.Wake{JobID: job.ID, Attempt: 1, Provider: "laser", Owner: jobs.OwnerHash("dev")}, wake)
}

func TestSubmitTakesTheFirstProvider(t *testing.T) {
	t.Parallel()
	require.Equal(t, "inkjet", setup(t).made("k1").Provider)
}

func TestSubmitTakesAnyInput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, input := range []string{`null`, `0`, `""`, `[]`, `{}`, `false`} {
		key := "k" + string(rune('a'+i))
		job := b.submit(key, `{"route":"print","input":`+input+`}`).is(http.StatusAccepted).job()
		if input != "null" { // which Go reads as nothing
			require.Equal(t, input, string(job.Input))
		}
	}
}

func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body    string
		field   string
		detail  string
		allowed []string
	}{
		"unknown field":            {body: `{"route":"print","input":1,"inputs":2}`, field: "inputs", detail: `"inputs" is not known`, allowed: []string{"route", "input", "provider", "params", "metadata", "webhook_url", "start_within"}},
		"field in other case":      {body: `{"route":"print","input":1,"Route":"print"}`, field: "Route"},
		"no route":                 {body: `{"input":1}`, field: "route", detail: "missing"},
		"empty route":              {body: `{"route":"","input":1}`, field: "route", detail: "empty"},
		"route is a number":        {body: `{"route":1,"input":1}`, field: "route", detail: "must be a string, not a number"},
		"route is null":            {body: `{"route":null,"input":1}`, field: "route", detail: "not null"},
		"no input":                 {body: `{"route":"print"}`, field: "input", detail: "missing"},
		"provider is an object":    {body: `{"route":"print","input":1,"provider":{}}`, field: "provider", detail: "not an object"},
		"empty provider":           {body: `{"route":"print","input":1,"provider":""}`, field: "provider"},
		"provider of other route":  {body: `{"route":"print","input":1,"provider":"flatbed"}`, field: "provider", detail: "not one of the route print", allowed: []string{"inkjet", "laser"}},
		"params is an array":       {body: `{"route":"print","input":1,"params":[]}`, field: "params", detail: "must be an object, not an array"},
		"param not allowed":        {body: `{"route":"print","input":1,"params":{"temperature":1,"seed":2}}`, field: "params.seed", allowed: []string{"temperature"}},
		"all of them are named":    {body: `{"route":"print","input":1,"params":{"top_p":1,"temperature":1,"seed":2}}`, field: "params.seed", detail: "set seed, top_p.", allowed: []string{"temperature"}},
		"no param allowed":         {body: `{"route":"scan","input":1,"params":{"temperature":1}}`, field: "params.temperature"},
		"metadata is a string":     {body: `{"route":"print","input":1,"metadata":"x"}`, field: "metadata", detail: "not a string"},
		"metadata value":           {body: `{"route":"print","input":1,"metadata":{"a":"x","b":true}}`, field: "metadata.b", detail: "must be a string, not a boolean"},
		"metadata of 51":           {body: `{"route":"print","input":1,"metadata":` + metadata(51) + `}`, field: "metadata", detail: "51 entries; 50"},
		"webhook_url":              {body: `{"route":"print","input":1,"webhook_url":"https://example.com/hook"}`, field: "webhook_url", detail: "no deliveries are made here"},
		"webhook_url without host": {body: `{"route":"print","input":1,"webhook_url":"/hook"}`, field: "webhook_url", detail: "absolute"},
		"webhook_url of a file":    {body: `{"route":"print","input":1,"webhook_url":"file:///etc/passwd"}`, field: "webhook_url", detail: "http"},
		"start_within in words":    {body: `{"route":"print","input":1,"start_within":"soon"}`, field: "start_within", detail: "duration"},
		"start_within a number":    {body: `{"route":"print","input":1,"start_within":5}`, field: "start_within", detail: "not a number"},
		"start_within 0":           {body: `{"route":"print","input":1,"start_within":"0s"}`, field: "start_within"},
		"start_within negative":    {body: `{"route":"print","input":1,"start_within":"-1s"}`, field: "start_within"},
		"start_within below 1ms":   {body: `{"route":"print","input":1,"start_within":"1us"}`, field: "start_within"},
		"an array":                 {body: `[1]`, detail: "must be a JSON object, not an array"},
		"no JSON":                  {body: `route=print`, detail: "not acceptable JSON"},
		"duplicate name":           {body: `{"route":"print","input":{"a":1,"a":2}}`, detail: `"a" occurs twice`},
		"bad UTF-8":                {body: "{\"route\":\"print\",\"input\":\"\xff\"}", detail: "UTF-8"},
		"lone surrogate":           {body: `{"route":"print","input":"\ud800"}`, detail: "surrogate"},
		"byte-order mark":          {body: "\xef\xbb\xbf" + printBody, detail: "byte-order mark"},
		"trailing data":            {body: printBody + `{}`, detail: "goes on"},
		"1e400":                    {body: `{"route":"print","input":1e400}`, detail: "out of range"},
		"too deep":                 {body: `{"route":"print","input":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, detail: "deeper than 100"},
		"cut":                      {body: `{"route":"print","input":1`, detail: "not acceptable JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := b.submit("k1", tt.body).problem(http.StatusBadRequest, "request-invalid")
			require.Equal(t, tt.field, p.Field)
			require.Contains(t, p.Detail, tt.detail)
			if tt.allowed != nil {
				require.Equal(t, tt.allowed, p.Allowed)
			}
			if strings.Contains(p.Detail, "acceptable JSON") {
				require.NotNil(t, p.Position)
			}
			require.Empty(t, b.redis.Keys(), "a refused request writes nothing")
		})
	}
}

func metadata(entries int) string {
	parts := make([]string, entries)
	for i := range parts {
		parts[i] = `"k` + strings.Repeat("x", i) + `":"v"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestSubmitMetadataOf50(t *testing.T) {
	t.Parallel()
	setup(t).submit("k1", `{"route":"print","input":1,"metadata":`+metadata(50)+`}`).is(http.StatusAccepted)
}

func TestSubmitUnknownRoute(t *testing.T) {
	t.Parallel()
	p := setup(t).submit("k1", `{"route":"pirnt","input":1}`).problem(http.StatusUnprocessableEntity, "route-unknown")
	require.Equal(t, []string{"print", "scan"}, p.Allowed)
	require.Contains(t, p.Detail, `"pirnt"`)
}

func TestSubmitKey(t *testing.T) {
	t.Parallel()
	setup(t).post(devKey, "/v1/jobs", printBody).problem(http.StatusBadRequest, "idempotency-key-missing")
	for name, headers := range map[string][]string{
		"blank":           {"Idempotency-Key", "a b"},
		"not ASCII":       {"Idempotency-Key", "schlüssel"},
		"256 characters":  {"Idempotency-Key", strings.Repeat("k", 256)},
		"sent twice":      {"Idempotency-Key", "k1", "Idempotency-Key", "k2"},
		"same sent twice": {"Idempotency-Key", "k1", "Idempotency-Key", "k1"},
		"quote":           {"Idempotency-Key", `"k1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := b.post(devKey, "/v1/jobs", printBody, headers...).problem(http.StatusBadRequest, "idempotency-key-invalid")
			require.Equal(t, "Idempotency-Key", p.Field)
			require.Empty(t, b.redis.Keys())
		})
	}
}

func TestSubmitBodyLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	frame := `{"route":"print","input":""}`
	most := `{"route":"print","input":"` + strings.Repeat("x", 1<<20-len(frame)) + `"}`
	require.Len(t, most, 1<<20)
	b.submit("k1", most).is(http.StatusAccepted)
	b.submit("k2", most+" ").problem(http.StatusRequestEntityTooLarge, "request-too-large")
	b.sendChunked("k3", most+" ").problem(http.StatusRequestEntityTooLarge, "request-too-large")
}

func TestSubmitMediaType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for value, good := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON;charset=UTF-8": true,
		"application/merge-patch+json": true,
		"":                             false, "text/plain": false, "application/x-www-form-urlencoded": false,
		"application/json; charset=iso-8859-1": false, "json": false, "application/jsonx": false, "text/x+json": false, "application/json;;": false,
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			answer := b.in(t).submit("k"+strings.Map(visible, value), printBody, "Content-Type", value)
			if good {
				answer.is(http.StatusAccepted)
			} else {
				answer.problem(http.StatusUnsupportedMediaType, "media-type-unsupported")
			}
		})
	}
	t.Run("compressed", func(t *testing.T) {
		t.Parallel()
		p := b.in(t).submit("zip", printBody, "Content-Encoding", "gzip").problem(http.StatusUnsupportedMediaType, "media-type-unsupported")
		require.Equal(t, "Content-Encoding", p.Field)
	})
}

func visible(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '+' {
		return r
	}
	return -1
}

func TestProblemBase(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.ProblemBase = "https://onejob.example" })
	require.Contains(t, string(b.get("", "/v1/jobs").body), `"type":"https://onejob.example/problems/unauthorized"`)
	require.Contains(t, string(b.get("", "/problems/unauthorized").body), `"type":"https://onejob.example/problems/unauthorized"`)
}
