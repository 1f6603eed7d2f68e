package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/config"
	"onejob/contracts"
	"onejob/jobs"
	"onejob/redistest"
)

// model is an OpenAI-compatible server that answers with what it is set to.
type model struct {
	*httptest.Server
	status atomic.Int64
	answer atomic.Pointer[string]
	calls  atomic.Int64
}

func newModel(t *testing.T, status int, answer string) *model {
	m := &model{}
	m.status.Store(int64(status))
	m.answer.Store(&answer)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		m.calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(m.status.Load()))
		if m.status.Load() != http.StatusOK {
			_, _ = w.Write([]byte(`{"error":{"message":"busy","type":"server_error"}}`))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "c1", "object": "chat.completion", "model": "m", "usage": map[string]int{"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29},
			"choices": []any{map[string]any{
				"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": *m.answer.Load()},
			}},
		})
	}))
	t.Cleanup(m.Close)
	return m
}

const summaries = `
description: one-sentence summaries
prompts: ["Answer with JSON {\"summary\": string} and nothing else. Text: {{text}}"]
options: {temperature: 0}
require: [schema, round_trip]
defaultTest:
  assert:
    - {type: is-json, value: {type: object, required: [summary], additionalProperties: false,
       properties: {summary: {type: string, minLength: 1}}}}
tests:
  - vars: {text: "The press jammed twice on Monday."}
    assert: [{type: cel, value: "size(output.summary) < 200"}]
`

// TestContract_FailoverNeedsACertificate: without one the job fails and names the
// command; with one it goes on at the next provider, and the attempt says what
// allowed it; and what breaks the contract is no success.
func TestContract_FailoverNeedsACertificate(t *testing.T) {
	t.Parallel()
	busy := newModel(t, http.StatusServiceUnavailable, "")
	good := newModel(t, http.StatusOK, `{"summary":"Two jams on Monday."}`)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.yaml"), []byte(summaries), 0o600))
	store := redistest.Real(t).Options()
	text := fmt.Sprintf(`
drain: 1s
redis: {url: "redis://%s/%d"}
providers:
  first:  {type: openai, base_url: %q, model: m, timeout: 5s, deadline: 10s}
  second: {type: openai, base_url: %q, model: m, timeout: 5s, deadline: 10s}
routes:
  summary: {providers: [first, second], contract: summary.yaml, effects: none}
`, store.Addr, store.DB, busy.URL+"/v1", good.URL+"/v1")
	cfg, err := config.Parse(filepath.Join(dir, "onejob.yaml"), []byte(text), nil, config.WithAddr("127.0.0.1:0"))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := New(cfg, WithAPI(), WithWorker(), WithDevKeys())
	require.NoError(t, a.Start(ctx))
	t.Cleanup(func() { require.NoError(t, a.Close()) })

	job := ask(ctx, t, a.Addr(), "uncertified")
	require.Equal(t, jobs.Failed, job.State)
	require.Equal(t, "failover_not_certified", job.Error.Code)
	require.Contains(t, job.Error.Hint, "onejob contract verify --route summary --provider second")
	require.Zero(t, good.calls.Load())

	certified := verify(ctx, t, cfg, "second")
	job = ask(ctx, t, a.Addr(), "certified")
	require.Equal(t, jobs.Succeeded, job.State)
	require.Equal(t, 2, job.CompletedBy)
	require.Equal(t, certified, job.Attempts[1].Certificate)
	var result struct {
		Output struct{ Summary string } `json:"output"`
	}
	require.NoError(t, json.Unmarshal(job.Result, &result))
	require.Equal(t, "Two jams on Monday.", result.Output.Summary)

	prose := "Sure! There were two jams."
	good.answer.Store(&prose)
	job = ask(ctx, t, a.Addr(), "prose")
	require.Equal(t, jobs.Failed, job.State, "prose is not success")
	require.Equal(t, contracts.ReasonProse, job.Error.Code)
	require.Nil(t, job.Result)
	require.Len(t, job.Attempts, 2, "both errors are kept")
}

func verify(ctx context.Context, t *testing.T, cfg *config.Config, provider string) string {
	t.Helper()
	var id string
	err := WithContracts(ctx, cfg, func(ctx context.Context, book *contracts.Book, store *contracts.Store) error {
		for _, e := range book.Entries("summary", provider) {
			report, err := contracts.Verifier{}.Run(ctx, e.Contract, e.Target, 1, nil)
			require.NoError(t, err)
			require.NotNil(t, report.Certificate, "%+v", report)
			id = report.Certificate.ID
			require.NoError(t, store.Keep(ctx, report, time.Now()))
		}
		return nil
	})
	require.NoError(t, err)
	return id
}

func ask(ctx context.Context, t *testing.T, addr, key string) jobs.Job {
	t.Helper()
	body := postAs(ctx, t, addr, key, `{"route":"summary","input":{"text":"Jams."}}`)
	var job jobs.Job
	require.NoError(t, json.Unmarshal([]byte(body), &job))
	return job
}
