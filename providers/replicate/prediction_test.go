package replicate

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

// A prediction means the same whoever brings it: the create, a look-up, a callback.
func TestPredictions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		kind       providers.Kind
		reason     string // of a look-up
		create     string // of a create, where it differs
		retry      bool
		effect     providers.Effect
	}{
		{name: "starting", body: starting, kind: providers.Accepted},
		{name: "processing", body: `{"id":"p1","status":"processing"}`, kind: providers.Accepted},
		{name: "succeeded", body: succeeded, kind: providers.Succeeded, effect: providers.EffectDone},
		{name: "failed", body: `{"id":"p1","status":"failed","error":"CUDA out of memory"}`, kind: providers.Failed, reason: providers.ReasonFailedAtProvider, effect: providers.EffectUnknown},
		{name: "failed without a word", body: `{"id":"p1","status":"failed","error":null}`, kind: providers.Failed, reason: providers.ReasonFailedAtProvider},
		{name: "interrupted", body: `{"id":"p1","status":"failed","error":"Prediction interrupted; please retry (code: PA)"}`, kind: providers.Failed, reason: providers.ReasonFailedAtProvider, retry: true},
		{name: "a filter", body: `{"id":"p1","status":"failed","error":"NSFW content detected. Please retry."}`, kind: providers.Failed, reason: providers.ReasonRefused},
		{name: "canceled", body: `{"id":"p1","status":"canceled","metrics":{"predict_time":2}}`, kind: providers.Failed, reason: providers.ReasonFailedAtProvider, effect: providers.EffectUnknown},
		{name: "aborted", body: `{"id":"p1","status":"aborted"}`, kind: providers.Failed, reason: providers.ReasonFailedAtProvider, retry: true, effect: providers.EffectNone},
		{name: "deleted", body: `{"id":"p1","status":"succeeded","output":null,"data_removed":true}`, kind: providers.Failed, reason: providers.ReasonResultGone, effect: providers.EffectDone},
		{name: "a new status", body: `{"id":"p1","status":"dreaming"}`, kind: providers.Unknown, reason: providers.ReasonLookupFailed, create: providers.ReasonAnswerUnreadable},
		{name: "no prediction", body: `[]`, kind: providers.Unknown, reason: providers.ReasonLookupFailed, create: providers.ReasonAnswerUnreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.create == "" {
				c.create = c.reason
			}
			p := &provider{}
			created := p.understand(providers.Answer{Status: 201, Body: []byte(c.body)})
			require.Equal(t, c.create, created.Reason)
			for _, o := range []providers.Outcome{created, p.read([]byte(c.body)), Report([]byte(c.body))} {
				require.Equal(t, c.kind, o.Kind, o.Message)
				require.Equal(t, c.retry, o.Retryable)
				if c.effect != "" {
					require.Equal(t, c.effect, o.Effect)
				}
			}
			require.Equal(t, c.reason, Report([]byte(c.body)).Reason)
		})
	}
	require.Equal(t, providers.ReasonAcceptedUntraceable, (&provider{}).understand(providers.Answer{Status: 201, Body: []byte(`{"status":"starting"}`)}).Reason)
}

func TestResult(t *testing.T) {
	t.Parallel()
	o := Report([]byte(succeeded))
	require.JSONEq(t, fmt.Sprintf(`{"content":"Hello","finish_reason":"stop","usage":{"predict_time":0.4},"model":"acme/draw","response":%s}`, succeeded), string(o.Result))
	require.JSONEq(t, `{"predict_time":0.4}`, string(o.Usage))
	for output, content := range map[string]string{
		`"hi"`:                           `"hi"`,
		`["a","b"]`:                      `"ab"`,
		`[]`:                             `[]`,
		`["https://h/1","https://h/2"]`:  `["https://h/1","https://h/2"]`,
		`["data:image/png;base64,aGk="]`: `["data:image/png;base64,aGk="]`,
		`{"score":9007199254740993}`:     `{"score":9007199254740993}`,
		`[1,2]`:                          `[1,2]`,
		`null`:                           `null`,
	} {
		got, err := contentOf(json.RawMessage(output))
		require.NoError(t, err)
		require.Equal(t, content, string(got))
	}
}

// prediction of a list, with the webhook URL of an attempt.
func listed(id, attempt string) string {
	return fmt.Sprintf(`{"id":%q,"status":"succeeded","webhook":"https://onejob.example/cb/t?attempt=%s"}`, id, attempt)
}

// Without the handle only the attempt's own webhook URL tells for certain.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		pages  []string // NEXT is the address of the next page
		kind   providers.Kind
		reason string
		asked  int
	}{
		{"on the first page", []string{`{"next":null,"results":[` + listed("p0", "job_1-a1") + `,` + listed("p1", "job_1-a2") + `]}`}, providers.Succeeded, "", 2},
		{"on the second", []string{`{"next":"NEXT","results":[` + listed("p0", "job_1-a1") + `]}`, `{"results":[` + listed("p1", "job_1-a2") + `]}`}, providers.Succeeded, "", 3},
		{"the same input is no proof", []string{`{"results":[{"id":"p9","status":"succeeded","input":{"text":"hi"}}]}`}, providers.Unknown, providers.ReasonLookupAbsent, 1},
		{"nothing", []string{`{"results":[]}`}, providers.Unknown, providers.ReasonLookupAbsent, 1},
		{"a page that leads elsewhere", []string{`{"next":"http://127.0.0.1:1/v1/predictions?cursor=x","results":[]}`}, providers.Unknown, providers.ReasonLookupAbsent, 1},
		{"more than is read", []string{`{"next":"NEXT","results":[]}`, `{"next":"NEXT","results":[]}`, `{"next":"NEXT","results":[]}`, `{"next":"NEXT","results":[]}`, `{"next":"NEXT","results":[]}`, `{"results":[` + listed("p1", "job_1-a2") + `]}`}, providers.Unknown, providers.ReasonLookupAbsent, 5},
		{"no list", []string{`{}`}, providers.Unknown, providers.ReasonLookupFailed, 1},
		{"too large", []string{string(make([]byte, providers.MaxResult+1))}, providers.Unknown, providers.ReasonLookupFailed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var page atomic.Int64
			server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
				if x.Request.URL.Path == "/v1/predictions/p1" {
					return x.Reply(200, succeeded)
				}
				body := c.pages[page.Add(1)-1]
				return x.Reply(200, strings.ReplaceAll(body, "NEXT", "http://"+x.Request.Host+"/v1/predictions?cursor=c"))
			})
			p, err := New(testConfig(server.URL, transport(t)))
			require.NoError(t, err)
			o := p.(providers.Lookuper).Lookup(t.Context(), providers.Ref{AttemptID: "job_1-a2"})
			require.Equal(t, c.kind, o.Kind, o.Message)
			require.Equal(t, c.reason, o.Reason)
			require.Equal(t, c.asked, server.Requests())
			require.Zero(t, server.Creates())
		})
	}
}

func TestSearchIsNarrowed(t *testing.T) {
	t.Parallel()
	queries := make(chan string, 1)
	server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
		queries <- x.Request.URL.Query().Get("created_after") + " " + x.Request.URL.Query().Get("created_before")
		return x.Reply(200, `{"results":[]}`)
	})
	p, err := New(testConfig(server.URL, transport(t)))
	require.NoError(t, err)
	p.(providers.Lookuper).Lookup(t.Context(), providers.Ref{
		AttemptID: "job_1-a2", ClaimedAt: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	})
	require.Equal(t, "2030-01-02T02:54:05Z 2030-01-02T03:14:05Z", <-queries)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for status, ok := range map[int]bool{200: true, 404: true, 409: true, 422: false, 500: false, 401: false} {
		got := make(chan string, 2)
		server := providertest.NewServer(t, func(x *providertest.Exchange) bool {
			got <- x.Request.Method + " " + x.Request.URL.Path + " " + x.Request.Header.Get("Authorization")
			return x.Reply(status, `{"detail":"`+testKey+`"}`)
		})
		for path, config := range map[string]providers.Config{
			"/v1/predictions/p1/cancel":    testConfig(server.URL, transport(t)),
			"/predictions/job_1-a2/cancel": cogConfig(server.URL, transport(t)),
		} {
			p, err := New(config)
			require.NoError(t, err)
			err = p.(providers.Canceler).Cancel(t.Context(), providers.Ref{AttemptID: "job_1-a2", Handle: "p1"})
			require.Equal(t, ok, err == nil, "%d: %v", status, err)
			if err != nil {
				require.NotContains(t, err.Error(), testKey)
			}
			require.Equal(t, "POST "+path+" Bearer "+testKey, <-got)
		}
	}
	p, err := New(testConfig("http://127.0.0.1:1", nil))
	require.NoError(t, err)
	require.ErrorIs(t, p.(providers.Canceler).Cancel(t.Context(), providers.Ref{AttemptID: "job_1-a2"}), providers.ErrNoHandle)
}
